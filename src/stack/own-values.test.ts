// What a machine says for itself holds for it alone: from the stack file down to the files of the machines.

import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { dnsSite } from '../../test/support/dns-spec.ts'
import type { CertificateRequest } from '../clusters/site.ts'
import { Secret } from '../lib/secret.ts'
import { plain, reveal } from '../machine/content.ts'
import { load, problems } from './load/testing.ts'
import { renderMachines } from './render-machines.ts'

type Document = Readonly<Record<string, unknown>>

const stackOf = (parts: object) => stringify({ name: 'lab', domain: 'lab.test', ...parts })

async function render(parts: object) {
  const requests = new Map<string, CertificateRequest>()
  const keyring = {
    authority: plain('authority'),
    secret: (id: string, given?: Secret) => given ?? new Secret(`secret of ${id}`),
    certificate: (request: CertificateRequest) => {
      requests.set(request.id, request)
      return { certificate: plain('certificate'), key: [new Secret('key')] }
    },
  }
  const machines = renderMachines(await load(stackOf(parts)), { ...dnsSite(), keyring }, { etcd: [], dnsFiles: [] })
  const text = (name: string, path: string): string => {
    const file = machines.find((machine) => machine.name === name)?.files.find((each) => each.path === path)
    return reveal(file?.content ?? plain(`${name} has no ${path}`))
  }
  return { text, requests }
}

describe('name servers', () => {
  const etcd = { ca_certificate: 'CA', key_prefix: '/zones/', endpoints: ['10.0.0.1:2379'] }
  const server = (name: string, client: object, dns: object) => ({ name, etcd: { ...etcd, client }, dns })
  const first = { zonefiles_reload_interval: '1m', load_balance_records: false, alternate_dns_servers: ['192.0.2.1'] }
  const servers = [
    server('a', { certificate: 'certificate of a', key: 'key of a' }, first),
    server('b', { certificate: 'certificate of b', key: 'key of b' }, { alternate_dns_servers: ['192.0.2.2'] }),
    server('c', { username: 'c', password: 'password of c' }, {}),
    { name: 'd' },
  ]

  test('have their own intervals, orders, alternate servers and logins', async () => {
    const { text } = await render({ dns: { zonefiles_reload_interval: '7s', servers } })
    const [a, b, c, d] = servers.map(({ name }) => parse(text(name, '/etc/holdfast/names.yaml')) as Document)
    expect(a).toMatchObject({ sources: [{ reload: '60000ms' }, {}, {}, {}] })
    for (const each of [b, c, d]) expect(each).toMatchObject({ sources: [{ reload: '7000ms' }, {}, {}, {}] })
    expect(a['serve']).toMatchObject({ load_balance: false, forward: ['192.0.2.1'] })
    expect(b['serve']).toMatchObject({ load_balance: true, forward: ['192.0.2.2'] })
    expect(d['serve']).not.toHaveProperty('forward')
    expect(c['etcd']).toMatchObject({ endpoints: ['https://10.0.0.1:2379'], username: 'c' })
    const logins = ['a', 'b', 'd'].map((name) => text(name, '/etc/holdfast/etcd-client.pem'))
    expect(logins).toEqual(['certificate of a', 'certificate of b', 'certificate of a'])
    expect(text('b', '/etc/holdfast/etcd-client.key')).toBe('key of b')
    expect(text('c', '/etc/holdfast/etcd-password')).toBe('password of c\n')
    expect(text('c', '/etc/holdfast/etcd-client.pem')).toBe('c has no /etc/holdfast/etcd-client.pem')
  })

  test('have them with CoreDNS, too', async () => {
    const { text } = await render({ dns: { engine: 'coredns', servers } })
    const [a, b] = ['a', 'b'].map((name) => text(name, '/etc/coredns/Corefile'))
    expect(a).toMatch(/reload 60000ms[^]*forward \. 192\.0\.2\.1\n/u)
    expect(a).not.toContain('loadbalance')
    expect(b).toMatch(/reload 3000ms[^]*forward \. 192\.0\.2\.2\n *loadbalance/u)
    expect(text('b', '/etc/holdfast/zonefiles/etcd-client.key')).toBe('key of b')
    expect(text('c', '/etc/holdfast/zonefiles/etcd-password.yml')).toContain('password of c')
  })

  test.each([
    ['members', { endpoints: ['10.0.0.2:2379'] }, 'endpoints'],
    ['authority', { ca_certificate: 'another' }, 'ca_certificate'],
    ['prefix', { key_prefix: '/others/' }, 'key_prefix'],
  ])('have one etcd: another %s is refused', async (_, change, key) => {
    const client = { username: 'u', password: 'p' }
    const both = [{}, change].map((each, index) => ({ name: `n${index}`, etcd: { ...etcd, client, ...each } }))
    expect(await problems(stackOf({ dns: { servers: both } }))).toEqual([
      expect.stringContaining(`dns.servers[1].etcd.${key}: it differs from dns.servers[0].etcd.${key}`),
    ])
  })
})

describe('PostgreSQL servers', () => {
  const etcd = { endpoints: ['10.0.0.1:2379'], ca_cert: 'CA' }
  const own = { domains: ['db.test'], extra_ips: ['192.0.2.9'], validity_period: 100, early_renewal_period: 10 }
  const members = [
    { name: 'a', etcd: { ...etcd, username: 'one', password: 'first' } },
    { name: 'b', etcd: { ...etcd, username: 'two', password: 'second' }, postgres: { certificate: own } },
    { name: 'c', postgres: { certificate: { organization: 'Theirs' } } },
  ]

  test('have their own certificates and logins', async () => {
    const certificate = { organization: 'Ours', validity_period: 1000 }
    const { text, requests } = await render({ postgres: { members, certificate } })
    const [a, b, c] = ['a', 'b', 'c'].map((name) => requests.get(`${name}/server`))
    expect(a).toMatchObject({ organization: 'Ours', validityHours: 1000, earlyRenewalHours: 333 })
    expect(b).toMatchObject({ organization: 'Ours', validityHours: 100, earlyRenewalHours: 10 })
    expect([b?.domains, b?.addresses]).toEqual([
      expect.arrayContaining(['db.test', 'b.lab.test']),
      expect.arrayContaining(['192.0.2.9']),
    ])
    expect(a?.domains).not.toContain('db.test')
    expect(c).toMatchObject({ organization: 'Theirs', validityHours: 1000 })
    const logins = ['a', 'b', 'c'].map(
      (name) => (JSON.parse(text(name, '/etc/patroni/patroni.yml')) as Document)['etcd3'],
    )
    expect(logins).toMatchObject([
      { username: 'one', password: 'first' },
      { username: 'two', password: 'second' },
      { username: 'one', password: 'first' },
    ])
  })

  test('a certificate that is renewed before it begins is refused at its member', async () => {
    const certificate = { early_renewal_period: 100 }
    const late = { name: 'd', postgres: { certificate: { validity_period: 50 } } }
    expect(await problems(stackOf({ postgres: { members: [...members, late], certificate } }))).toEqual([
      expect.stringContaining('postgres.certificate.early_renewal_period: certificates would be renewed 100 hours'),
    ])
  })

  test('have one etcd: another member of it is refused', async () => {
    const [first, second] = members
    const other = { ...second, etcd: { ...second.etcd, endpoints: ['10.0.0.2:2379'] } }
    expect(await problems(stackOf({ postgres: { members: [first, other] } }))).toEqual([
      expect.stringContaining('postgres.members[1].etcd.endpoints: it differs'),
    ])
  })
})
