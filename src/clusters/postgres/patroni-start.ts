// How Patroni is started. Debian's version has two faults that cost acknowledged writes when a primary stands still for
// longer than its TTL and then goes on, as a paused virtual machine does; both are mended in later versions of Patroni.

export const PATRONI_START = `"""Starts Patroni with the faults mended that versions before 3.1 have with etcd.

Usage: start-patroni.py CONFIG
"""
import sys
import time
from functools import partial

import etcd
from patroni.__main__ import main
from patroni.dcs import catch_return_false_exception, etcd3
from patroni.version import __version__


def telling_silence(method):
    """An etcd that says nothing at all is away, as one that cannot be reached is; it has refused nothing. Else failsafe mode would not help."""

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
    """Before 3.0.3 a leader whose lease has ended takes a new one and writes the leader key, whoever holds it by now.

    Here it does so only if the key is still its own, or nobody's. False makes it step down at once.
    """
    retry = dcs._retry.copy()

    def attempt(method, *args, **kwargs):
        method = telling_silence(method)
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
    """Before 3.1 a cache that has missed something stays as it is, and every change that builds on it is refused."""

    def call(client, method, fields, retry=None):
        answer = call_rpc(client, method, fields, retry)
        if method == '/kv/txn' and not answer.get('succeeded'):
            client._restart_watcher()
        return answer

    return call


def mend(version):
    if version < (3, 0, 3):
        etcd3.Etcd3._update_leader = update_leader
    if version < (3, 1):
        etcd3.PatroniEtcd3Client.call_rpc = distrust_cache(etcd3.PatroniEtcd3Client.call_rpc)


# Processes that Patroni starts import this file, too.
if __name__ == '__main__':
    mend(tuple(int(part) for part in __version__.split('.')))
    sys.exit(main())
`
