import { expect, test } from 'vitest'
import { type DnsOptions, dnsSite, dnsSpec } from '../../../test/support/dns-spec.ts'
import { machineSpec } from '../../../test/support/machine-spec.ts'
import { Secret } from '../../lib/secret.ts'
import { plain, reveal } from '../../machine/content.ts'
import type { Machine } from '../../machine/machine.ts'
import type { EtcdAccess } from '../site.ts'
import { dnsMachines } from './machines.ts'

const ETCD: EtcdAccess = {
  endpoints: ['10.0.0.1:2379'],
  ca: plain('authority\n'),
  login: { username: 'dns', password: new Secret('swordfish') },
}
const MACHINES = [
  { name: 'dns-1', address: '127.103.20.1' },
  { name: 'pg-1', address: '127.103.30.1' },
]

function machine(spec: DnsOptions = {}): Machine {
  const patroni = [{ scope: 'pg', namespace: '/service/' }]
  return dnsMachines(dnsSpec({ engine: 'coredns', ...spec }), dnsSite(), { etcd: ETCD, machines: MACHINES, patroni })[0]
}

function textOf({ files }: Machine, path: string): string {
  const found = files.find((file) => file.path === path)
  if (found === undefined) throw new Error(`there is no ${path}`)
  return reveal(found.content)
}

test('the Corefile is that of servers which have CoreDNS now', () => {
  const server = { ...machineSpec('dns-1', '10.1.0.1'), moreAddresses: ['10.2.0.1'] }
  expect(textOf(machine({ servers: [server], alternateDnsServers: ['192.0.2.53'] }), '/etc/coredns/Corefile')).toBe(
    `.:53 {
    bind 10.1.0.1 10.2.0.1
    auto {
        directory /opt/coredns/zonefiles (.*) {1}
        reload 3000ms
    }
    forward . 192.0.2.53
    loadbalance round_robin
    reload 5s
    loop
    nsid dns-1
    prometheus 10.1.0.1:9153
    health 10.1.0.1:8080
    errors
    log
}
`,
  )
})

test('records keep their order, and nobody else is asked, where the stack file says so', () => {
  const text = textOf(machine({ loadBalanceRecords: false, zonefilesReloadIntervalMs: 0 }), '/etc/coredns/Corefile')
  expect(text).not.toMatch(/loadbalance|forward/u)
  expect(text).toContain('reload 0ms\n')
})

test('a server with an IPv6 address tells of itself there', () => {
  const text = textOf(machine({ servers: [machineSpec('dns-1', '2001:db8::1')] }), '/etc/coredns/Corefile')
  expect(text).toContain('    bind 2001:db8::1\n')
  expect(text).toContain('    health [2001:db8::1]:8080\n')
})

test('zones are files that have their names, those of the stack before those of etcd', () => {
  const zones = [{ name: 'db.Files.test', text: 'text\n' }]
  const { files, directories } = machine({ zones })
  expect(files.map(({ path }) => path).filter((path) => path.startsWith('/opt'))).toEqual([
    '/opt/coredns/zonefiles/1-stack/lab.test',
    '/opt/coredns/zonefiles/1-stack/files.test',
    '/opt/coredns/zonefiles/3-reverse/20.103.127.in-addr.arpa',
    '/opt/coredns/zonefiles/3-reverse/30.103.127.in-addr.arpa',
  ])
  expect(directories.filter(({ owner }) => owner !== 'root')).toEqual([
    { path: '/opt/coredns/zonefiles/2-etcd', owner: 'holdfast', mode: 0o755, isData: true },
  ])
})

test('the zone of Patroni, which CoreDNS does not have, is not delegated to it', () => {
  expect(textOf(machine(), '/opt/coredns/zonefiles/1-stack/lab.test')).not.toContain('pg.lab.test.')
})

test('the updater is a service of its own, and takes good zones only', () => {
  const { services } = machine()
  expect(services.map(({ name, user, command }) => [name, user, command])).toEqual([
    ['dns', 'holdfast', ['/usr/local/bin/coredns', '-conf', '/etc/coredns/Corefile']],
    [
      ...['zonefiles', 'holdfast'],
      ['holdfast', 'publish', 'zonefiles', '--config', '/etc/holdfast/zonefiles/config.yml', '--validate'],
    ],
  ])
  expect(services[0].bindsLowPorts).toBe(true)
})

test('without etcd there is nothing to update', () => {
  const { services, files } = dnsMachines(dnsSpec({ engine: 'coredns' }), dnsSite(), {
    ...{ etcd: undefined, machines: MACHINES, patroni: [] },
  })[0]
  expect(services.map(({ name }) => name)).toEqual(['dns'])
  expect(files.some(({ path }) => path.startsWith('/etc/holdfast'))).toBe(false)
})
