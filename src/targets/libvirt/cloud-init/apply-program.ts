// The program by which a machine that runs is changed, and asked for the states of its services. It is written at the first boot
// and needs nothing but Python's standard library. It runs as root in directories that others may own, so it goes from
// directory to directory by hand and follows nobody's symbolic links but root's.

import type { DiskSpace } from '../../target.ts'

export const APPLY_PATH = '/usr/local/lib/holdfast/apply.py'

/** What it reads on standard input. */
export interface ApplyRequest {
  readonly directories?: readonly { readonly path: string; readonly owner: string; readonly mode: number }[]
  readonly files?: readonly AppliedFile[]
  /** Files, and directories that are empty. */
  readonly remove?: readonly string[]
  readonly units?: readonly { readonly name: string; readonly text: string }[]
  /** They are stopped, too. */
  readonly removeUnits?: readonly string[]
  /** Units to start with the machine. */
  readonly enable?: readonly string[]
  /** Of the administrator, where there is one of that name; none locks it. */
  readonly password?: { readonly user: string; readonly text: string | null }
}

export interface AppliedFile {
  readonly path: string
  readonly owner: string
  readonly mode: number
  readonly text: string
  /** Only written when it is not there. */
  readonly isInitial?: boolean
}

/** What it prints. */
export interface Applied {
  /** Paths of directories and files that were made, changed or removed. */
  readonly changed: readonly string[]
  /** Names of units that were. */
  readonly units: readonly string[]
}

/** Printed by `apply.py state`. A program that is older than this prints the units alone. */
export interface GuestState {
  readonly units: readonly UnitState[]
  /** The fullest of the file systems on disks. */
  readonly disk?: DiskSpace | null
}

/** One of our units. */
export interface UnitState {
  readonly name: string
  /** As systemd has them: `active`, `running`. */
  readonly active: string
  readonly sub: string
  readonly pid: number
  /** Unix milliseconds. */
  readonly since: number
  readonly restarts: number
  /** `success`, `exit-code`, `signal` … */
  readonly result: string
  readonly exitStatus: number
  /** Where it has ended by itself since it was started; a program that is older than this does not report it. */
  readonly end?: UnitEnd | null
}

export interface UnitEnd {
  /** Unix milliseconds. */
  readonly at: number
  readonly exitCode: number | null
  /** `SIGKILL` */
  readonly signal: string | null
  /** The last lines of its log, of that run. */
  readonly lines: readonly string[]
}

export const APPLY_PROGRAM = `"""Changes a machine that runs, and reports the states of its services and the room on its disks.

Usage: apply.py < request.json
       apply.py state
"""
import calendar
import contextlib
import errno
import glob
import json
import os
import pwd
import stat
import subprocess
import sys
import time

ROOT = os.environ.get('HOLDFAST_ROOT', '/')
UNITS = '/etc/systemd/system'
ENABLED = UNITS + '/multi-user.target.wants'
NEW = '.holdfast-new'
ENVIRONMENT = {**os.environ, 'LC_ALL': 'C', 'TZ': 'UTC', 'SYSTEMD_PAGER': ''}


class Refused(Exception):
    pass


def parent_of(path, make):
    """The directory that a path is in, opened, and the last part of the path. With make, missing ones are made."""
    *parts, name = [part for part in path.split('/') if part]
    if '..' in (*parts, name):
        raise Refused('"..": expected a path from the root')
    directory = os.open(ROOT, os.O_DIRECTORY)
    for part in parts:
        outer = directory
        try:
            directory = open_directory(outer, part, make)
        finally:
            os.close(outer)
    return directory, name


def open_directory(outer, name, make=False):
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=outer)
    status = os.stat(name, dir_fd=outer, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        return os.open(name, os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=outer)
    if status.st_uid not in (0, os.geteuid()):
        raise Refused('"{}" is a symbolic link that is not of root'.format(name))
    return os.open(name, os.O_DIRECTORY, dir_fd=outer)


@contextlib.contextmanager
def parent(path, make=False):
    directory, name = parent_of(path, make)
    try:
        yield directory, name
    finally:
        os.close(directory)


def user_of(owner):
    try:
        return pwd.getpwnam(owner)
    except KeyError:
        raise Refused('there is no user "{}"'.format(owner)) from None


def is_as_wanted(status, user, mode):
    return (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (user.pw_uid, user.pw_gid, mode)


def make_directory(path, owner, mode):
    """Whether anything had to be done."""
    user = user_of(owner)
    with parent(path, make=True) as (directory, name):
        is_new = False
        try:
            os.mkdir(name, 0o700, dir_fd=directory)
            is_new = True
        except FileExistsError:
            pass
        inner = open_directory(directory, name)
        try:
            if not is_new and is_as_wanted(os.fstat(inner), user, mode):
                return False
            os.fchown(inner, user.pw_uid, user.pw_gid)
            os.fchmod(inner, mode)
        finally:
            os.close(inner)
        return True


class File:
    """Written under another name at first; whoever reads it sees the old one whole, or the new one."""

    def __init__(self, path, owner, mode, text, isInitial=False):
        self.path = path
        self.mode = mode
        self.bytes = text.encode()
        self.is_initial = isInitial
        self.user = user_of(owner)
        self.is_staged = False

    def stage(self):
        with parent(self.path, make=True) as (directory, name):
            if self.is_there(directory, name):
                return
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name + NEW, dir_fd=directory)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with open(os.open(name + NEW, flags, 0o600, dir_fd=directory), 'wb') as file:
                self.is_staged = True
                file.write(self.bytes)
                file.flush()
                os.fchown(file.fileno(), self.user.pw_uid, self.user.pw_gid)
                os.fchmod(file.fileno(), self.mode)
                os.fsync(file.fileno())

    def is_there(self, directory, name):
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
        except OSError:
            # Not there, or a symbolic link, which is replaced.
            return False
        with open(descriptor, 'rb') as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return False
            return self.is_initial or is_as_wanted(status, self.user, self.mode) and file.read() == self.bytes

    def commit(self):
        with parent(self.path) as (directory, name):
            os.rename(name + NEW, name, src_dir_fd=directory, dst_dir_fd=directory)
            self.is_staged = False
            os.fsync(directory)

    def discard(self):
        if self.is_staged:
            with parent(self.path) as (directory, name):
                os.unlink(name + NEW, dir_fd=directory)


def write_files(files):
    """All of them, or none when one cannot be written. Those that were changed."""
    try:
        for file in files:
            with telling(file.path):
                file.stage()
        changed = [file.path for file in files if file.is_staged]
        for file in files:
            if file.is_staged:
                with telling(file.path):
                    file.commit()
        return changed
    finally:
        for file in files:
            file.discard()


def remove(path):
    """Whether there was anything to remove. A directory with something in it stays."""
    try:
        with parent(path) as (directory, name):
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                os.rmdir(name, dir_fd=directory)
            else:
                os.unlink(name, dir_fd=directory)
            return True
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EBUSY):
            return False
        raise


@contextlib.contextmanager
def telling(path):
    try:
        yield
    except Refused as error:
        raise Refused('Cannot write "{}": {}'.format(path, error)) from error
    except OSError as error:
        raise Refused('Cannot write "{}": {}'.format(path, error.strerror)) from error


def run(*command, text=''):
    ended = subprocess.run(command, env=ENVIRONMENT, input=text, capture_output=True, text=True)
    if ended.returncode != 0:
        said = (ended.stderr.strip().splitlines() or ['exit code {}'.format(ended.returncode)])[-1]
        raise Refused('Cannot run "{}": {}'.format(' '.join(command), said))
    return ended.stdout


def root_path(path):
    return os.path.join(ROOT, path.lstrip('/'))


def remove_unit(name):
    path = UNITS + '/' + name
    if not os.path.lexists(root_path(path)):
        return False
    run('systemctl', 'disable', '--now', '--quiet', name)
    # One that has failed would be listed as such for ever; others cannot be reset.
    with contextlib.suppress(Refused):
        run('systemctl', 'reset-failed', '--quiet', name)
    return remove(path)


def set_password(user, text):
    with contextlib.suppress(KeyError):
        pwd.getpwnam(user)
        if text is not None and ('\\n' in text or ':' in user):
            raise Refused('Cannot set the password of "{}": it is not one line'.format(user))
        if text is None:
            run('usermod', '--lock', user)
        else:
            run('chpasswd', text='{}:{}\\n'.format(user, text))


def is_stale(names):
    """Whether systemd knows another text of a unit, because somebody was interrupted."""
    return bool(names) and 'NeedDaemonReload=yes' in run('systemctl', 'show', '--property=NeedDaemonReload', *names)


def apply(request):
    units = request.get('units', [])
    files = [File(**entry) for entry in request.get('files', [])]
    unit_files = [File(UNITS + '/' + unit['name'], 'root', 0o644, unit['text']) for unit in units]
    changed = []
    for entry in request.get('directories', []):
        with telling(entry['path']):
            if make_directory(**entry):
                changed.append(entry['path'])
    written = write_files(files + unit_files)
    changed += [path for path in written if not path.startswith(UNITS + '/')]
    for path in request.get('remove', []):
        with telling(path):
            if remove(path):
                changed.append(path)
    gone = [name for name in request.get('removeUnits', []) if remove_unit(name)]
    changed_units = [unit['name'] for unit in units if UNITS + '/' + unit['name'] in written] + gone
    if changed_units or is_stale([unit['name'] for unit in units]):
        run('systemctl', 'daemon-reload')
    enable = [name for name in request.get('enable', []) if not os.path.lexists(root_path(ENABLED + '/' + name))]
    if enable:
        run('systemctl', 'enable', '--quiet', *enable)
    if 'password' in request:
        set_password(**request['password'])
    return {'changed': changed, 'units': changed_units}


PROPERTIES = 'Id ActiveState SubState MainPID StateChangeTimestamp NRestarts Result ExecMainStatus'.split()
# systemd's own message that a process of a unit has ended.
PROCESS_EXIT = '98e322203f7a4ed290d09fe03c09fe15'


def states():
    names = sorted(os.path.basename(path) for path in glob.glob(root_path(UNITS + '/holdfast-*.service')))
    if not names:
        return []
    shown = run('systemctl', 'show', '--property=' + ','.join(PROPERTIES), *names)
    return [state_of(dict(line.split('=', 1) for line in block.splitlines())) for block in shown.strip().split('\\n\\n')]


def state_of(unit):
    restarts = int(unit.get('NRestarts') or 0)
    has_ended = restarts > 0 or unit['Result'] != 'success'
    return {
        'name': unit['Id'],
        'active': unit['ActiveState'],
        'sub': unit['SubState'],
        'pid': int(unit['MainPID']),
        'since': milliseconds(unit['StateChangeTimestamp']),
        'restarts': restarts,
        'result': unit['Result'],
        'exitStatus': int(unit['ExecMainStatus']),
        'end': last_end(unit['Id'], unit['StateChangeTimestamp']) if has_ended else None,
    }


def fullest_disk():
    """Of the file systems on disks; their blocks for root do not count as free."""
    disks = []
    with open('/proc/self/mounts') as mounts:
        places = [line.split()[1:3] for line in mounts]
    for path, kind in places:
        if kind not in ('btrfs', 'ext2', 'ext3', 'ext4', 'xfs'):
            continue
        with contextlib.suppress(OSError):
            found = os.statvfs(path)
            if found.f_blocks > 0 and not found.f_flag & os.ST_RDONLY and os.path.isdir(path):
                size = found.f_frsize
                disks.append({'path': path, 'freeBytes': found.f_bavail * size, 'totalBytes': found.f_blocks * size})
    return min(disks, key=lambda disk: disk['freeBytes'] / disk['totalBytes'], default=None)


def milliseconds(timestamp):
    if not timestamp:
        return 0
    return calendar.timegm(time.strptime(timestamp, '%a %Y-%m-%d %H:%M:%S UTC')) * 1000


def last_end(name, changed):
    """How it ended the last time, and its last lines then."""
    journal = ('journalctl', '--quiet')
    entry = run(*journal, '--lines=1', '--output=json', 'MESSAGE_ID=' + PROCESS_EXIT, 'UNIT=' + name).strip()
    if not entry:
        return {'at': milliseconds(changed), 'exitCode': None, 'signal': None, 'lines': []}
    end = json.loads(entry)
    is_exit = end['EXIT_CODE'] == 'exited'
    log = run(*journal, '--lines=20', '--output=cat', '_SYSTEMD_INVOCATION_ID=' + end['INVOCATION_ID'])
    return {
        'at': int(end['__REALTIME_TIMESTAMP']) // 1000 if '__REALTIME_TIMESTAMP' in end else milliseconds(changed),
        'exitCode': int(end['EXIT_STATUS']) if is_exit else None,
        'signal': None if is_exit else 'SIG' + end['EXIT_STATUS'],
        'lines': log.splitlines(),
    }


def main(words):
    if words == ['state']:
        return {'units': states(), 'disk': fullest_disk()}
    if words:
        raise Refused('Cannot do "{}": it is no command of apply.py'.format(' '.join(words)))
    return apply(json.load(sys.stdin))


os.umask(0o022)
try:
    print(json.dumps(main(sys.argv[1:])))
except Refused as error:
    sys.exit(str(error).replace('\\n', ' '))
except (ValueError, TypeError, KeyError) as error:
    sys.exit('Cannot read the request: {}'.format(str(error).replace('\\n', ' ')))
`
