"""Stops PostgreSQL when the Patroni that looks after it has hung for so long that another member may lead.

Usage: fence.py DATA, started by Patroni (fencing.py), with one line after the other on its standard input:

  TIMEOUT SENT_AT  keep PostgreSQL until TIMEOUT seconds after SENT_AT (clock_gettime(CLOCK_BOOTTIME))
  close            Patroni no longer leads: end

The end of the input without "close" means that Patroni has ended. Then PostgreSQL keeps running: the next Patroni takes
over. A process of its own does this, as a Patroni that is stopped or hangs cannot.
"""
import contextlib
import os
import select
import signal
import sys
import time

STOP_SECONDS = 3
LOOK_SECONDS = 0.05


def now():
    """Goes on while the machine sleeps, and never jumps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def processes_in(data):
    """All processes of PostgreSQL work in its data directory; this one does not."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            if os.stat('/proc/' + pid).st_uid == os.geteuid() and os.readlink('/proc/' + pid + '/cwd') == data:
                yield int(pid)


def postmaster_of(data):
    with contextlib.suppress(OSError, ValueError), open(os.path.join(data, 'postmaster.pid')) as file:
        pid = int(file.readline())
        if pid in processes_in(data):
            return pid
    return None


def stop(data):
    """At once: without a checkpoint, as in a loss of power; then, should it hang as well, by force."""
    pid = postmaster_of(data)
    if pid is None:
        return
    end(pid, signal.SIGQUIT)
    deadline = now() + STOP_SECONDS
    while now() < deadline and postmaster_of(data) is not None:
        time.sleep(LOOK_SECONDS)
    if postmaster_of(data) is not None:
        for each in list(processes_in(data)):
            end(each, signal.SIGKILL)


def end(pid, how):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, how)


def watch(data, source):
    deadline = None
    unread = b''
    while True:
        left = None if deadline is None else max(0, deadline - now())
        readable, _, _ = select.select([source], [], [], left)
        if not readable:
            print('Patroni has not kept its lock in time: stopping PostgreSQL in "{}"'.format(data), flush=True)
            return stop(data)
        read = os.read(source, 65536)
        *lines, unread = (unread + read).split(b'\n')
        if not read or b'close' in lines:
            return None
        for line in lines:
            timeout, sent_at = map(float, line.split())
            deadline = sent_at + timeout


if __name__ == '__main__':
    # Patroni's children get signals that are meant for Patroni alone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.chdir('/')
    watch(os.path.realpath(sys.argv[1]), sys.stdin.fileno())
