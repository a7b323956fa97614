// The status of one member of a cluster, asked of the member itself: the same words for every kind of cluster.

export interface MemberStatus {
  readonly machine: string
  /** It does its part: an etcd member with a leader, a streaming replica, a name server that answers. */
  readonly isReady: boolean
  /** It does its part, but not all of it: a name server whose source is unreachable. */
  readonly isDegraded?: boolean
  /** etcd: leader, follower, learner. PostgreSQL: primary, sync standby, replica. dns: server. haproxy: proxy. */
  readonly role: string | undefined
  /** Of the software: `3.4.23`, `15.18`. */
  readonly version: string | undefined
  /** How far a PostgreSQL replica is behind. */
  readonly lagBytes: number | undefined
  /** What is wrong, in a few words. */
  readonly problem: string | undefined
  /** What a member that is being started still needs: `Patroni to start`. */
  readonly waitsFor?: string | undefined
}

/** A cluster as a whole: ready when it does what it is for (quorum, a primary with its standby), with all members ready. */
export interface ClusterStatus {
  readonly members: readonly MemberStatus[]
  readonly isReady: boolean
  /** It does what it is for, maybe without some of its members: etcd and PostgreSQL take writes, a name server answers. */
  readonly isWorking: boolean
  /** What the cluster waits for: `no leader`, `no synchronous standby`, `2 of 3 members`. */
  readonly problem: string | undefined
}
