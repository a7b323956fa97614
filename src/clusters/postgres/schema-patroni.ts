// Settings of Patroni in a stack file, and how it finds an etcd cluster that is not the stack's own.

import type { z } from 'zod'
import { flag, map, number, pem, preset, secret, text, written } from '../../document/values.ts'
import { endpoints } from '../../machine/schema-etcd.ts'

export const PATRONI_DEFAULTS = {
  scope: 'pg',
  namespace: '/patroni/',
  ttl: 20,
  loop_wait: 5,
  retry_timeout: 5,
  master_start_timeout: 300,
  master_stop_timeout: 300,
  watchdog_safety_margin: 5,
  synchronous_node_count: 1,
  synchronous_mode: true,
  synchronous_mode_strict: true,
}

const LONGEST_SECONDS = 86_400

export const patroniName = (what: string) =>
  written(
    (word) => (/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/u.test(word) ? word : undefined),
    'name',
    what,
    'letters, digits, "-" and "_", at most 63 of them',
  )

export const patroniEtcdSchema = map(
  {
    endpoints: endpoints.describe('Members of the cluster: `IP:PORT`.'),
    ca_cert: pem.describe('Authority that signed the certificates of the cluster.'),
    username: text('a user name').describe('User of Patroni.'),
    password: secret.describe('Its password.'),
    certificate: pem
      .optional()
      .describe(
        'Client certificate without a common name, where the cluster asks for one in addition to the password.',
      ),
    key: secret.optional().describe('Its key.'),
  },
  'a map with "endpoints"',
)
  .refine(({ certificate, key }) => (certificate === undefined) === (key === undefined), {
    error: 'a certificate and its key go together; expected both of "certificate" and "key", or none',
  })
  .optional()
  .describe("The etcd cluster of Patroni, where it is not the stack's own. Its gRPC gateway has to be on.")
export type PatroniEtcdDocument = NonNullable<z.output<typeof patroniEtcdSchema>>

const seconds = (from: number, standard: number) => preset(number(from, LONGEST_SECONDS), standard)

export const patroniShape = {
  scope: preset(
    patroniName('the name of a cluster, as it becomes part of host names'),
    PATRONI_DEFAULTS.scope,
  ).describe('Name of the cluster. Its names are `primary.SCOPE.DOMAIN`, `replica.SCOPE.DOMAIN` …'),
  namespace: preset(text('a path'), PATRONI_DEFAULTS.namespace).describe(
    "What all of Patroni's keys in etcd begin with.",
  ),
  ttl: seconds(1, PATRONI_DEFAULTS.ttl).describe(
    'Seconds after which a leader that gave no sign of life is replaced; at least `loop_wait` + 2 × `retry_timeout`.',
  ),
  loop_wait: seconds(1, PATRONI_DEFAULTS.loop_wait).describe("Seconds between two rounds of Patroni's loop."),
  retry_timeout: seconds(1, PATRONI_DEFAULTS.retry_timeout).describe(
    'Seconds that operations of etcd and PostgreSQL are retried before the leader steps down.',
  ),
  master_start_timeout: seconds(0, PATRONI_DEFAULTS.master_start_timeout).describe(
    'Seconds a failing leader has to recover before another takes over.',
  ),
  master_stop_timeout: seconds(0, PATRONI_DEFAULTS.master_stop_timeout).describe(
    'Seconds PostgreSQL has to stop before it is killed.',
  ),
  watchdog_safety_margin: seconds(-1, PATRONI_DEFAULTS.watchdog_safety_margin).describe(
    'Seconds before the end of the TTL at which the watchdog acts; -1 for half of the TTL. With target `local` at most 1.',
  ),
  synchronous_node_count: preset(number(1, 100), PATRONI_DEFAULTS.synchronous_node_count).describe(
    'How many standbys have every commit before it is acknowledged.',
  ),
  synchronous_mode: preset(flag, PATRONI_DEFAULTS.synchronous_mode).describe('Synchronous replication.'),
  synchronous_mode_strict: preset(flag, PATRONI_DEFAULTS.synchronous_mode_strict).describe(
    'No commit without a standby that has it: rather none than one that can be lost.',
  ),
}
