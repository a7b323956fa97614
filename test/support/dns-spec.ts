// Specifications and sites for tests of name servers.

import { join } from 'node:path'
import { plain } from '../../src/machine/content.ts'
import type { MachineSpec, Site } from '../../src/clusters/site.ts'
import { machineSpec } from './machine-spec.ts'
import type { DnsServer, DnsSpec, Serving } from '../../src/clusters/dns/spec.ts'

/** What servers do not say themselves, all of them have from here. */
export type DnsOptions = Partial<Omit<DnsSpec, 'servers'> & Serving> & {
  readonly servers?: readonly (MachineSpec & Partial<DnsServer>)[]
}

export function dnsSpec(options: DnsOptions = {}): DnsSpec {
  const {
    servers = [machineSpec('dns-1', '127.103.20.1'), machineSpec('dns-2', '127.103.20.2')],
    zonefilesReloadIntervalMs = 3000,
    loadBalanceRecords = true,
    alternateDnsServers = [],
    ...rest
  } = options
  return {
    engine: 'holdfast',
    servers: servers.map((server) => ({
      ...{ zonefilesReloadIntervalMs, loadBalanceRecords, alternateDnsServers },
      ...server,
    })),
    ...{
      port: 53,
      healthPort: 8080,
      metricsPort: 9153,
      zones: [],
      etcd: 'own',
      keyPrefix: '/coredns/',
      allowZones: [],
    },
    skydns: undefined,
    ...rest,
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
    watchdogDevice: '/dev/watchdog',
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
