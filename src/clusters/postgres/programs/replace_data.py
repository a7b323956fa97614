"""Has Patroni replace a data directory that a failed pg_rewind has left, and keep the old one aside.

By itself Patroni either gives up after a failed pg_rewind or removes the data. Worse, when the source of pg_rewind is lost
half way, it tries again or starts PostgreSQL with pages of two timelines. Here such data is marked (kept_data.py):

  pg_rewind begins -> marked -> it succeeds, or fails before it has changed anything -> not marked
                        |
                        v  PostgreSQL and pg_rewind are kept from it
             another member runs as the primary -> put aside -> Patroni copies the data of the primary

A marked member never leads: PostgreSQL does not start there. So its data is never the only one, and the primary has every
commit that was acknowledged with synchronous replication.
"""
import contextlib
import logging
import os
import time

from kept_data import aside_of, is_changed_since_mark, is_marked, mark, put_aside, room_missing, unmark
from patroni.api import RestApiHandler
from patroni.ha import Ha
from patroni.postgresql import Postgresql
from patroni.postgresql.rewind import Rewind

logger = logging.getLogger('patroni.holdfast')
REPEAT_SECONDS = 60
# The whole data directory is looked at for it, and some ask every second.
ROOM_SECONDS = 10


def install():
    """Nothing is changed in a Patroni that lacks one of them: it works as it does by itself."""
    wrappers = [
        (Rewind, 'pg_rewind', marking),
        (Rewind, 'execute', giving_up),
        (Postgresql, 'start', refusing),
        (Postgresql, 'remove_data_directory', keeping),
        (Ha, '_run_cycle', replacing),
        (RestApiHandler, 'get_postgresql_status', reporting),
    ]
    missing = ['{}.{}'.format(owner.__name__, name) for owner, name, _ in wrappers if not hasattr(owner, name)]
    if missing:
        return logger.warning('This Patroni has no %s: data of a failed pg_rewind stays in place', ', '.join(missing))
    for owner, name, wrapper in wrappers:
        setattr(owner, name, wrapper(getattr(owner, name)))


def marking(pg_rewind):
    def call(rewind, *args, **kwargs):
        data = rewind._postgresql.data_dir
        if is_marked(data):
            logger.error('Not running pg_rewind: an earlier one has changed "%s" and failed', data)
            return False
        mark(data)
        rewind.is_rewinding = True
        is_done = False
        try:
            is_done = pg_rewind(rewind, *args, **kwargs)
            return is_done
        finally:
            rewind.is_rewinding = False
            if is_done or not is_changed_since_mark(data, links_of(rewind._postgresql).values()):
                unmark(data)

    return call


def giving_up(execute):
    def call(rewind, *args, **kwargs):
        result = execute(rewind, *args, **kwargs)
        data = rewind._postgresql.data_dir
        if rewind.failed and os.path.isdir(data):
            mark(data)
        return result

    return call


def refusing(start):
    def call(postgresql, *args, **kwargs):
        if is_marked(postgresql.data_dir):
            logger.error('Not starting PostgreSQL: pg_rewind has failed in "%s"', postgresql.data_dir)
            postgresql.set_state(state('START_FAILED', 'start failed'))
            return False
        return start(postgresql, *args, **kwargs)

    return call


def keeping(remove_data_directory):
    """A copy that was cut short is removed; data that PostgreSQL has run in is kept, if there is room."""

    def call(postgresql, *args, **kwargs):
        data = postgresql.data_dir
        was_used = os.path.exists(os.path.join(data, 'postmaster.opts')) or is_marked(data)
        if was_used and not os.path.islink(data) and room_missing(data, links_of(postgresql).values()) <= 0:
            with contextlib.suppress(OSError):
                keep(postgresql)
                return None
        result = remove_data_directory(postgresql, *args, **kwargs)
        unmark(data)
        return result

    return call


def replacing(run_cycle):
    def call(ha):
        with contextlib.suppress(OSError):
            replace_if_marked(ha)
        return run_cycle(ha)

    return call


def reporting(get_postgresql_status):
    """What "holdfast status" and "holdfast up" have to know."""

    def call(handler, *args, **kwargs):
        result = get_postgresql_status(handler, *args, **kwargs)
        patroni = handler.server.patroni
        data = patroni.postgresql.data_dir
        if os.path.isdir(aside_of(data)):
            result['data_kept_aside'] = aside_of(data)
        if is_marked(data) and not getattr(patroni.ha._rewind, 'is_rewinding', False):
            result['rewind_failed'] = True
        elif result.get('state', '').startswith(('start failed', 'restart failed')):
            with contextlib.suppress(OSError):
                result['room_missing'] = recent_room_missing(patroni.postgresql)
        return result

    return call


def recent_room_missing(postgresql):
    seen_at, missing = getattr(postgresql, 'room_seen', (-ROOM_SECONDS, 0))
    if time.monotonic() - seen_at >= ROOM_SECONDS:
        missing = room_missing(postgresql.data_dir, links_of(postgresql).values())
        postgresql.room_seen = (time.monotonic(), missing)
    return missing


def replace_if_marked(ha):
    data = ha.state_handler.data_dir
    if not os.path.exists(data):
        return unmark(data)
    if not is_marked(data) or ha._async_executor.busy or ha.cluster is None or ha.is_paused():
        return
    leader = ha.cluster.leader
    if leader is None or not leader.conn_url or leader.name == ha.state_handler.name or ha.has_lock(False):
        return
    credentials = ha._rewind._conn_kwargs(leader, ha.state_handler.config.rewind_credentials)
    if not Rewind.check_leader_is_not_in_recovery(credentials):
        return
    missing = room_missing(data, links_of(ha.state_handler).values())
    if missing > 0:
        return complain(ha, 'Not replacing "%s": %d MiB are missing to keep it next to a new copy; make room, or run '
                        '"holdfast up" to have it replaced without keeping it', data, (missing >> 20) + 1)
    ha._async_executor.try_run_async('putting data aside', replace, args=(ha,))


def replace(ha):
    postgresql = ha.state_handler
    if postgresql.is_running() and not postgresql.stop('immediate'):
        return None
    keep(postgresql)
    ha._rewind.reset_state()
    # Anything but None has Patroni look at once, and make a copy.
    return True


def keep(postgresql):
    data = postgresql.data_dir
    aside = put_aside(data, links_of(postgresql))
    postgresql.set_role(role('UNINITIALIZED', 'uninitialized'))
    logger.warning('"%s" is replaced by a copy; the old data is kept in "%s" until it is removed or the next takes '
                   'its place', data, aside)


def links_of(postgresql):
    """Links in the data directory, and where they lead."""
    return {**postgresql.pg_wal_realpath(), **postgresql.pg_tblspc_realpaths()}


def complain(ha, *message):
    now = time.monotonic()
    if now - getattr(ha, 'complained_at', -REPEAT_SECONDS) >= REPEAT_SECONDS:
        ha.complained_at = now
        logger.error(*message)


def state(name, text):
    """Patroni has constants for these since 4.1."""
    return constant('PostgresqlState', name, text)


def role(name, text):
    return constant('PostgresqlRole', name, text)


def constant(kind, name, text):
    from patroni.postgresql import misc

    return getattr(getattr(misc, kind, None), name, text)
