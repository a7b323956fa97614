"""Starts Patroni with changes of our own.

Usage: start-patroni.py CONFIG

Debian 12's version has two faults that cost acknowledged writes when a primary is paused for longer than its TTL, as a
virtual machine may be. Both are fixed in later versions of Patroni. For all versions, the login to an etcd that does not
answer is repeated, data that pg_rewind could not bring to its end is replaced (replace_data.py), and there is a watchdog
for members that share a machine (fencing.py).
"""
import re
import sys
import time
from functools import partial

sys.dont_write_bytecode = True
import etcd
from patroni.__main__ import main
from patroni.dcs import catch_return_false_exception, etcd3
from patroni.version import __version__


def silence_is_absence(method):
    """An etcd that does not answer has refused nothing: it counts as unreachable. Else failsafe mode would not help."""

    def call(*args, **kwargs):
        try:
            return method(*args, **kwargs)
        except etcd.EtcdException as error:
            if type(error) is etcd.EtcdException:
                raise etcd.EtcdConnectionFailed(str(error)) from error
            raise

    return call


@catch_return_false_exception
def update_leader(dcs):
    """Before 3.0.3 a leader whose lease has ended takes a new one and overwrites the leader key of another member.

    Here it writes the key only if it is still its own, or gone. False makes it step down at once.
    """
    retry = dcs._retry.copy()

    def attempt(method, *args, **kwargs):
        method = silence_is_absence(method)
        if retry.stoptime is not None:
            retry.deadline = retry.stoptime - time.time()
            if retry.deadline < 1:
                raise etcd3.Etcd3Error('no time left to update the leader key')
        return dcs._run_and_handle_exceptions(method, *args, retry=partial(retry, retry=retry), **kwargs)

    attempt(dcs._do_refresh_lease, True)
    leader = dcs.cluster and dcs.cluster.leader
    if leader and leader.session == dcs._lease:
        return True
    write = partial(attempt, dcs._client.put, dcs.leader_path, dcs._name, dcs._lease)
    is_own = leader and leader.name == dcs._name
    return bool(is_own and write(mod_revision=leader.index) or write(create_revision=0))


def distrust_cache(call_rpc):
    """Before 3.1 a cache that has missed a change stays stale, and every write that builds on it is refused."""

    def call(client, method, fields, retry=None):
        answer = call_rpc(client, method, fields, retry)
        if method == '/kv/txn' and not answer.get('succeeded'):
            client._restart_watcher()
        return answer

    return call


def forget_token(call_rpc):
    """etcd lets a request wait until it is as far as the token says, which a cluster that lost its data is not for long.

    Without a token it answers, and Patroni logs in again.
    """

    def call(client, method, fields, retry=None):
        try:
            return call_rpc(client, method, fields, retry)
        except etcd.EtcdException as error:
            if type(error) in (etcd.EtcdException, etcd.EtcdConnectionFailed):
                client._token = None
            raise

    return call


def version_of(text):
    """4.1.0rc1 is (4, 1, 0)."""
    return tuple(map(int, re.findall(r'\d+', text)[:3]))


def fix(version):
    etcd3.Etcd3Client.call_rpc = forget_token(etcd3.Etcd3Client.call_rpc)
    if version < (3, 0, 3):
        etcd3.Etcd3._update_leader = update_leader
    if version < (3, 1):
        etcd3.PatroniEtcd3Client.call_rpc = distrust_cache(etcd3.PatroniEtcd3Client.call_rpc)


# Processes that Patroni starts import this file as well.
if __name__ == '__main__':
    import fencing
    import replace_data

    fix(version_of(__version__))
    replace_data.install()
    fencing.install()
    sys.exit(main())
