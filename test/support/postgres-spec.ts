// A spec of a PostgreSQL cluster for tests, with the defaults of the stack file.

import type { PatroniSpec, PostgresCertificate, PostgresSpec } from '../../src/clusters/postgres/spec.ts'
import { machineSpec } from './machine-spec.ts'

const PATRONI: PatroniSpec = {
  scope: 'pg',
  namespace: '/patroni/',
  ttl: 20,
  loopWait: 5,
  retryTimeout: 5,
  masterStartTimeout: 300,
  masterStopTimeout: 300,
  watchdogSafetyMargin: 5,
  synchronousNodeCount: 1,
  synchronousMode: true,
  synchronousModeStrict: true,
}

/** As short as it can be, for tests that wait for it. */
export const QUICK_PATRONI: PatroniSpec = { ...PATRONI, ttl: 6, loopWait: 1, retryTimeout: 2 }

const CERTIFICATE: PostgresCertificate = {
  ...{ domains: [], extraIps: [], organization: 'test', validityHours: 24, earlyRenewalHours: 1 },
}

/** Three members, at the first addresses of a network such as `127.102.30`. */
export function postgresSpec(network: string, change: Partial<PostgresSpec> = {}): PostgresSpec {
  return {
    version: undefined,
    members: [1, 2, 3].map((index) => ({
      ...machineSpec(`pg-${index}`, `${network}.${index}`),
      patroniName: `pg-${index}`,
      certificate: CERTIFICATE,
    })),
    params: {},
    replicatorPassword: undefined,
    superuserPassword: undefined,
    etcd: 'own',
    patroni: PATRONI,
    haproxy: undefined,
    ...change,
  }
}
