"""Data directories that PostgreSQL must not run in any more.

pg_rewind changes a data directory in place. When it fails half way, pages of both timelines are mixed in it: neither
PostgreSQL nor another pg_rewind may use it. Two names next to a data directory keep track of that:

  DATA.rewinding  pg_rewind has begun, or has failed: DATA is not to be used (contains the device and inode of DATA)
  DATA.aside      the last data directory that was replaced by a new copy; never more than one
"""
import contextlib
import os
import shutil

MARGIN = 1.05
MARGIN_BYTES = 64 << 20


def mark_of(data):
    return data + '.rewinding'


def aside_of(data):
    return data + '.aside'


def identity_of(data):
    found = os.stat(data)
    return '{} {}\n'.format(found.st_dev, found.st_ino)


def mark(data):
    """Survives a loss of power: the mark is on disk before pg_rewind changes anything."""
    path = mark_of(data)
    with open(path, 'w') as file:
        file.write(identity_of(data))
        file.flush()
        os.fsync(file.fileno())
    sync_directory(os.path.dirname(path))


def unmark(data):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(mark_of(data))
        sync_directory(os.path.dirname(data))


def is_marked(data):
    """A mark of a data directory that is gone by now says nothing about the one in its place."""
    try:
        with open(mark_of(data)) as file:
            return file.read() == identity_of(data)
    except FileNotFoundError:
        return False


def is_changed_since_mark(data, outside):
    """Whether anything in it was written since; a failed pg_rewind that wrote nothing may be tried again.

    outside: directories that belong to the data and are elsewhere (tablespaces, WAL).
    """
    began = os.stat(mark_of(data)).st_mtime_ns
    for top in (data, *filter(os.path.isdir, outside)):
        for directory, _, files in os.walk(top, onerror=fail):
            for path in (directory, *(os.path.join(directory, name) for name in files)):
                with contextlib.suppress(FileNotFoundError):
                    if os.lstat(path).st_mtime_ns >= began:
                        return True
    return False


def room_missing(data, outside):
    """How many bytes a copy of the same size lacks when the data is kept next to it; at most 0 when it fits.

    outside: directories that belong to the data and are elsewhere (tablespaces).
    """
    needed = sum(map(size_of, (data, *outside))) * MARGIN + MARGIN_BYTES
    return int(needed - shutil.disk_usage(os.path.dirname(data)).free - size_of(aside_of(data)))


def put_aside(data, links):
    """Renames the data directory, and what its links lead to: PostgreSQL's tablespaces and WAL outside of it.

    May be cut short at any point and done again. Returns where the data is.
    """
    aside = aside_of(data)
    for link, target in links.items():
        moved = aside_of(target)
        if target.endswith('.aside'):
            continue
        shutil.rmtree(moved, ignore_errors=True)
        os.rename(target, moved)
        os.unlink(link)
        os.symlink(moved, link)
    shutil.rmtree(aside, ignore_errors=True)
    os.rename(data, aside)
    sync_directory(os.path.dirname(data))
    unmark(data)
    return aside


def size_of(path):
    """Bytes on disk."""
    total = 0
    for directory, _, files in os.walk(path):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(directory, name)).st_blocks * 512
    return total


def sync_directory(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fail(error):
    raise error
