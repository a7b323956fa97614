"""A watchdog for Patroni that stops PostgreSQL instead of resetting the machine, which others use as well.

Patroni opens its watchdog before it leads, reports to it whenever it has renewed its lock, and closes it when it no longer
leads. This one is a process (fence.py); the configuration asks for it by "driver: holdfast".
"""
import os
import subprocess
import sys
import time

from patroni.watchdog import base

DRIVER = 'holdfast'
END_SECONDS = 5


class ProcessWatchdog(base.WatchdogBase):
    def __init__(self, data):
        self._data = data
        self._process = None
        self._timeout = None

    @property
    def is_running(self):
        return self._process is not None and self._process.poll() is None

    @property
    def is_healthy(self):
        return True

    def open(self):
        if self.is_running:
            return
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fence.py')
        try:
            self._process = subprocess.Popen([sys.executable, program, self._data], stdin=subprocess.PIPE)
        except OSError as error:
            raise base.WatchdogError('cannot start {}: {}'.format(program, error)) from error

    def close(self):
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        try:
            process.stdin.write(b'close\n')
            process.stdin.close()
            process.wait(END_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            # It must not outlive the leadership that it watches.
            process.kill()
            process.wait()

    def keepalive(self):
        try:
            line = '{} {}\n'.format(self._timeout, time.clock_gettime(time.CLOCK_BOOTTIME))
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except (AttributeError, OSError, ValueError) as error:
            raise base.WatchdogError('fence.py does not run: {}'.format(error)) from error

    def has_set_timeout(self):
        return True

    def set_timeout(self, timeout):
        self._timeout = timeout
        self.keepalive()

    def get_timeout(self):
        return self._timeout

    def describe(self):
        return 'fence.py'


def install():
    get_impl = base.WatchdogConfig.get_impl

    def call(config):
        if config.driver != DRIVER:
            return get_impl(config)
        return ProcessWatchdog(config.driver_config['data_dir'])

    base.WatchdogConfig.get_impl = call
