// The part of the step in settings-step.ts that is about the beginning of a cluster. The Patroni that makes it puts a key into
// etcd first, which keeps the others from doing the same. Killed before it is done, it leaves a key that nobody ever
// fills in, and all wait for each other.

export const BOOTSTRAP_STEP = `
FIRST_LOOK_SECONDS = 5
LOOK_AGAIN_SECONDS = 2


class Bootstrap:
    """Ends one that nobody is at: for as long as the TTL no member has said that it does anything."""

    def __init__(self, patroni, settings):
        self.config = {**patroni, **settings, 'patronictl': True}
        self.dcs = None
        self.look_at = time.monotonic() + FIRST_LOOK_SECONDS
        self.idle_since = None

    def look(self):
        now = time.monotonic()
        if now < self.look_at:
            return
        self.look_at = now + LOOK_AGAIN_SECONDS
        if not self.is_idle():
            self.idle_since = None
        elif self.idle_since is None:
            self.idle_since = now
        elif now - self.idle_since > self.config['ttl']:
            print('Nobody makes the cluster that somebody began to make: any member may begin anew')
            self.dcs.cancel_initialization()
            self.idle_since = None

    def is_idle(self):
        # It takes a while, and is hardly ever needed.
        from patroni.dcs import get_dcs
        from patroni.exceptions import DCSError

        self.dcs = self.dcs or get_dcs(self.config)
        try:
            cluster = self.dcs.get_cluster()
        except DCSError:
            return False
        is_begun = cluster.is_unlocked() and cluster.initialize == ''
        return is_begun and all(member.data.get('state') == 'stopped' for member in cluster.members)
`
