// What all members share through Patroni: timings, synchronous replication, PostgreSQL's parameters. They are in
// bootstrap.yml when the cluster is made and in etcd from then on, where a step (settings-step.ts) keeps them as wanted.

import type { PostgresSpec } from './spec.ts'

/** Where the stack file says nothing else. */
const DEFAULT_PARAMETERS = {
  // How long a standby waits before it tries to follow again: most of what a failover takes is this, by default 5 s.
  wal_retrieve_retry_interval: '500ms',
}

/** Failover is for standbys that miss at most so many bytes; without synchronous replication only. */
const MAXIMUM_LAG_ON_FAILOVER = 1_048_576

/** Parameters of PostgreSQL that all members share. */
export function sharedParameters({ params }: Pick<PostgresSpec, 'params'>): Readonly<Record<string, string>> {
  return { ...DEFAULT_PARAMETERS, ...params }
}

export function sharedSettings(spec: PostgresSpec) {
  const { patroni } = spec
  return {
    ttl: patroni.ttl,
    loop_wait: patroni.loopWait,
    retry_timeout: patroni.retryTimeout,
    maximum_lag_on_failover: MAXIMUM_LAG_ON_FAILOVER,
    // Patroni's names before 3.0 (master_…) are gone in 4.0; 3.0 knows both.
    primary_start_timeout: patroni.masterStartTimeout,
    primary_stop_timeout: patroni.masterStopTimeout,
    synchronous_mode: patroni.synchronousMode,
    synchronous_mode_strict: patroni.synchronousModeStrict,
    synchronous_node_count: patroni.synchronousNodeCount,
    failsafe_mode: true,
    postgresql: { use_pg_rewind: true, use_slots: true, parameters: sharedParameters(spec) },
  }
}

/** Each loop of the leader brings a new cluster one step on, so that the first minute has short ones. */
const LOOP_WAIT_AT_FIRST = 1

/** What a cluster that does not exist yet is made with. */
export function bootstrapSettings(spec: PostgresSpec) {
  return {
    dcs: { ...sharedSettings(spec), loop_wait: LOOP_WAIT_AT_FIRST },
    initdb: [
      { encoding: 'UTF8' },
      { locale: 'C.UTF-8' },
      'data-checksums',
      { 'auth-host': 'scram-sha-256' },
      { 'auth-local': 'scram-sha-256' },
    ],
  }
}
