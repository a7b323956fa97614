// What is run in front of Patroni. Killed while it makes a data directory, be it the first one or a copy of the leader's,
// Patroni leaves one behind that it does not know what to do with, or worse, takes for one that is whole. PostgreSQL has not
// run in it since, so that there is nothing in it but what can be made again. The same holds when pg_rewind was killed.

export const CLEAR_UNFINISHED = `"""Puts a data directory aside that nobody has finished, and turns into a command.

Usage: clear-unfinished.py DATA COMMAND [ARGUMENT]...
"""
import contextlib
import os
import shutil
import signal
import sys
import time

MAKERS = (b'initdb', b'pg_basebackup', b'pg_ctl', b'postgres')
LOOK_SECONDS = 0.05


def is_unfinished(data):
    # Every start of PostgreSQL writes this file. No copy has it, and pg_rewind begins by taking it away.
    return os.path.isdir(data) and os.listdir(data) and not os.path.exists(os.path.join(data, 'postmaster.opts'))


def makers_of(data):
    """Processes that have outlived the Patroni that started them, and would go on writing."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/' + pid + '/cmdline', 'rb') as file:
                program, *words = file.read().split(b'\\0')
        except OSError:
            continue
        if os.path.basename(program) in MAKERS and any(word.endswith(os.fsencode(data)) for word in words):
            yield int(pid)


def put_aside(data, aside):
    while makers := list(makers_of(data)):
        for pid in makers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(LOOK_SECONDS)
    shutil.rmtree(aside, ignore_errors=True)
    os.rename(data, aside)
    print('Nobody has finished "{}": put aside as "{}", to be made again'.format(data, aside), flush=True)


data, *command = sys.argv[1:]
aside = data + '.unfinished'
if is_unfinished(data):
    put_aside(data, aside)
elif os.path.isdir(data):
    shutil.rmtree(aside, ignore_errors=True)
os.execv(command[0], command)
`
