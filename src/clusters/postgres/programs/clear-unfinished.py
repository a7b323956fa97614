"""Puts a data directory aside that was never finished, and turns into a command.

Usage: clear-unfinished.py DATA COMMAND [ARGUMENT]...

Killed while it makes a data directory, Patroni leaves one behind that it cannot use, or worse, takes for a whole one.
PostgreSQL has not run in it, so everything in it can be made again. A data directory that pg_rewind was changing is left
in place: Patroni, which knows whether there is a leader to copy from, replaces it (start-patroni.py).
"""
import contextlib
import os
import shutil
import signal
import sys
import time

sys.dont_write_bytecode = True
from kept_data import is_marked  # noqa: E402

MAKERS = (b'initdb', b'pg_basebackup', b'pg_ctl', b'pg_rewind', b'postgres')
LOOK_SECONDS = 0.05


def is_unfinished(data):
    # Every start of PostgreSQL writes this file. No copy has it, and pg_rewind removes it.
    return os.path.isdir(data) and os.listdir(data) and not os.path.exists(os.path.join(data, 'postmaster.opts'))


def makers_of(data):
    """Processes of this user that have outlived the Patroni that started them, and would continue to write.

    Processes of other users cannot write here, whatever they are called.
    """
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if os.stat('/proc/' + pid).st_uid != os.geteuid():
                continue
            with open('/proc/' + pid + '/cmdline', 'rb') as file:
                program, *words = file.read().split(b'\0')
        except OSError:
            continue
        if os.path.basename(program) in MAKERS and any(word.endswith(os.fsencode(data)) for word in words):
            yield int(pid)


def end_makers(data):
    while makers := list(makers_of(data)):
        for pid in makers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(LOOK_SECONDS)


def clear(data):
    aside = data + '.unfinished'
    if is_marked(data):
        end_makers(data)
        print('pg_rewind did not finish in "{}": it is replaced as soon as there is a leader'.format(data), flush=True)
    elif is_unfinished(data):
        end_makers(data)
        shutil.rmtree(aside, ignore_errors=True)
        os.rename(data, aside)
        print('"{}" was never finished: put aside as "{}", to be made again'.format(data, aside), flush=True)
    elif os.path.isdir(data):
        shutil.rmtree(aside, ignore_errors=True)


if __name__ == '__main__':
    clear(sys.argv[1])
    os.execv(sys.argv[2], sys.argv[2:])
