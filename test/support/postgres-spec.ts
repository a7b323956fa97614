// A spec of a PostgreSQL cluster for tests, with the defaults of the stack file.

import type { PatroniSpec, PostgresSpec } from '../../src/clusters/postgres/spec.ts'
import type { MachineSpec } from '../../src/clusters/site.ts'

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

/** Three members, at the first addresses of a network such as `127.102.30`. */
export function postgresSpec(network: string, change: Partial<PostgresSpec> = {}): PostgresSpec {
  return {
    members: [1, 2, 3].map((index) => ({
      ...machineSpec(`pg-${index}`, `${network}.${index}`),
      patroniName: `pg-${index}`,
    })),
    params: {},
    replicatorPassword: undefined,
    superuserPassword: undefined,
    certificate: { domains: [], extraIps: [], organization: 'test', validityHours: 24, earlyRenewalHours: 1 },
    etcd: 'own',
    patroni: PATRONI,
    haproxy: undefined,
    ...change,
  }
}

export function machineSpec(name: string, address: string): MachineSpec {
  return {
    name,
    address,
    hardware: {
      vcpus: 2,
      memoryMib: 8192,
      volumeId: undefined,
      dataVolumeId: undefined,
      networks: [],
      cloudInitVolumePool: undefined,
      cloudInitVolumeName: undefined,
      sshAdminUser: 'ubuntu',
      adminUserPassword: undefined,
      sshAdminPublicKey: undefined,
      installDependencies: true,
      chrony: undefined,
      logs: undefined,
    },
  }
}
