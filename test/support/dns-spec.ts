// Specifications and sites for tests of name servers.

import { join } from 'node:path'
import { plain } from '../../src/machine/content.ts'
import type { Site } from '../../src/clusters/site.ts'
import { machineSpec } from './machine-spec.ts'
import type { DnsSpec } from '../../src/clusters/dns/spec.ts'

export function dnsSpec(options: Partial<DnsSpec> = {}): DnsSpec {
  return {
    engine: 'holdfast',
    servers: [machineSpec('dns-1', '127.103.20.1'), machineSpec('dns-2', '127.103.20.2')],
    ...{ port: 53, healthPort: 8080, metricsPort: 9153, zones: [], etcd: 'own', keyPrefix: '/coredns/' },
    ...{ skydns: undefined, zonefilesReloadIntervalMs: 3000, loadBalanceRecords: true, alternateDnsServers: [] },
    ...options,
  }
}

/** Machines have their roots below `directory`. */
export function dnsSite(directory = '/', program: readonly string[] = ['holdfast']): Site {
  return {
    stack: 'lab',
    domain: 'lab.test',
    path: (machine, path) => (directory === '/' ? path : join(directory, machine, path)),
    program,
    postgresVersion: '15',
    watchdog: 'automatic',
    keyring: {
      authority: plain('authority'),
      secret: () => {
        throw new Error('no secret is wanted')
      },
      certificate: () => {
        throw new Error('no certificate is wanted')
      },
    },
  }
}
