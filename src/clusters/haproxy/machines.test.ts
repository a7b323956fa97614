import { expect, test } from 'vitest'
import { machineSpec } from '../../../test/support/machine-spec.ts'
import { postgresSpec } from '../../../test/support/postgres-spec.ts'
import { Secret } from '../../lib/secret.ts'
import { plain, reveal, show } from '../../machine/content.ts'
import type { CertificateRequest, Site } from '../site.ts'
import { haproxyMachines } from './machines.ts'

const haproxy = { servers: [machineSpec('proxy-1', '10.0.4.1')], readWritePort: 5000, readOnlyPort: 5001 }
const requests: CertificateRequest[] = []
const site: Site = {
  stack: 'lab',
  domain: 'lab.test',
  path: (machine, path) => `/srv/${machine}${path}`,
  program: ['holdfast'],
  postgresVersion: '15',
  watchdogDevice: '/dev/watchdog',
  keyring: {
    secret: (id) => new Secret(id),
    authority: plain('authority\n'),
    certificate: (request) => {
      requests.push(request)
      return { certificate: plain('certificate\n'), key: [new Secret('key\n')] }
    },
  },
}
const [machine] = haproxyMachines(postgresSpec('10.0.3', { haproxy }), haproxy, site)
const [ca, client, config] = machine.files

test('a proxy listens on both ports of its address and runs as its own user', () => {
  expect(machine).toMatchObject({ name: 'proxy-1', kind: 'haproxy', address: '10.0.4.1', packages: ['haproxy'] })
  expect(machine.ports.map(({ port }) => port)).toEqual([5000, 5001])
  expect(machine.services[0]).toMatchObject({ user: 'haproxy', reloadSignal: 'SIGHUP' })
})

test('it has a certificate that is good for clients only, and nobody sees its key', () => {
  expect(requests).toMatchObject([{ id: 'proxy-1/client', usages: ['client'], domains: [], addresses: [] }])
  expect(reveal(client.content)).toBe('certificate\nkey\n')
  expect(show(client.content)).not.toContain('key')
  expect([ca, client, config].every(({ owner, mode }) => owner === 'haproxy' && mode === 0o600)).toBe(true)
})

test('it asks the verified REST API of every member for its role, and passes TLS through', () => {
  const text = reveal(config.content)
  expect(text).toContain('bind 10.0.4.1:5000')
  expect(text).toContain('http-check send meth OPTIONS uri /primary')
  expect(text).toContain('http-check send meth OPTIONS uri /replica')
  expect(
    text.match(/check-ssl port 8008 verify required ca-file '\/srv\/proxy-1\/etc\/haproxy\/ca.pem'/gu),
  ).toHaveLength(2)
  expect(text.match(/server pg-2 10.0.3.2:5432 check verifyhost pg-2.lab.test/gu)).toHaveLength(2)
  expect(text).not.toContain('mode http')
})
