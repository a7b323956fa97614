// Terraform's maps have all of their keys: what is not given there is empty or 0, and means the same here as leaving it out.

import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { load, problems } from './testing.ts'

const NETWORK = { network_name: 'n', ip: '10.0.0.1' }
const FORWARD = { domain: '', port: 0, hostname: '', shared_key: '', ca_cert: '' }
const GIVEN_FORWARD = { domain: 'logs.test', port: 24_224, hostname: '', shared_key: 'key', ca_cert: 'pem' }
const CLIENT = { certificate: '', key: '', username: '', password: '' }
const ETCD = { key_prefix: '', endpoints: [], ca_certificate: '', client: CLIENT }
const GIVEN_ETCD = { key_prefix: '/logs/', endpoints: ['10.0.0.9:2379'], ca_certificate: 'pem' }
const BY_PASSWORD = { ...CLIENT, username: 'u', password: 'p' }
const BUFFER = { customized: false, custom_value: '' }

function stackOf(member: object, top: object = {}): string {
  const members = [{ name: 'a', libvirt_network: NETWORK, ...member }]
  return stringify({ name: 'lab', domain: 'lab.test', target: 'libvirt', etcd: { members }, ...top })
}

async function hardwareOf(member: object, top: object = {}) {
  return (await load(stackOf(member, top))).etcd?.members[0].hardware
}

describe('empty', () => {
  test('MAC address, gateway, prefix length and name servers of an interface', async () => {
    const empty = { mac: '', gateway: '', prefix_length: '', dns_servers: [''] }
    const macvtap_interfaces = [{ interface: 'i', ip: '10.1.0.1', ...empty }]
    const none = { mac: undefined, gateway: undefined, prefixLength: undefined, dnsServers: [] }
    for (const libvirt of [
      { libvirt_network: { ...NETWORK, ...empty } },
      { libvirt_network: [{ ...NETWORK, ...empty }] },
      { libvirt_network: undefined, libvirt_networks: [{ ...NETWORK, ...empty }] },
    ])
      expect((await hardwareOf({ ...libvirt, macvtap_interfaces }))?.networks).toMatchObject([none, none])
  })

  test('gateway of the network of all machines', async () => {
    const machine_network = { network_name: 'n', addresses: '10.0.0.5-10.0.0.9', gateway: '' }
    const hardware = await hardwareOf({ libvirt_network: undefined }, { machine_network })
    expect(hardware?.networks).toMatchObject([{ ip: '10.0.0.5', gateway: undefined }])
  })

  test('password and key of the administrator, also where the next one is given further up', async () => {
    const empty = { admin_user_password: '', ssh_admin_public_key: '' }
    expect(await hardwareOf(empty)).toMatchObject({ adminUserPassword: undefined, sshAdminPublicKey: undefined })
    expect(await hardwareOf(empty, { ssh_admin_public_key: 'ssh-ed25519 A' })).toMatchObject({
      sshAdminPublicKey: 'ssh-ed25519 A',
    })
  })

  test('a libvirt network beside macvtap interfaces, as a map or in a list', async () => {
    const none = { network_name: '', network_id: '', ip: '', mac: '' }
    const macvtap_interfaces = [{ interface: 'i', ip: '10.1.0.1', prefix_length: 24 }]
    for (const network of [none, [none], [], { ...none, prefix_length: '', gateway: '', dns_servers: [] }])
      expect((await hardwareOf({ libvirt_network: network, macvtap_interfaces }))?.networks).toMatchObject([
        { attach: { macvtap: 'i' } },
      ])
    expect((await hardwareOf({ macvtap_interfaces: [] }))?.networks).toMatchObject([{ ip: '10.0.0.1' }])
    expect(await problems(stackOf({ libvirt_network: none }))).toEqual([expect.stringContaining('it has no network')])
    expect(await problems(stackOf({ libvirt_network: { ...none, ip: '10.0.0.1' } }))).toEqual([
      expect.stringContaining('expected either "network_id" or "network_name"'),
    ])
  })

  test('time sources of a clock that is not enabled, and those of one kind where there are others', async () => {
    const none = [{ url: '', options: [] }]
    expect(await hardwareOf({ chrony: { enabled: false, servers: none, pools: none } })).toMatchObject({
      chrony: undefined,
    })
    const pools = [{ url: 'pool.test', options: [] }]
    const chrony = { enabled: true, servers: none, pools, makestep: { threshold: 0, limit: 0 } }
    expect((await hardwareOf({ chrony }))?.chrony).toEqual({ servers: [], pools, makestep: undefined })
  })

  test('clocks and agents that are not enabled', async () => {
    const off = { enabled: false }
    const agents = {
      chrony: { ...off, servers: [], pools: [], makestep: { threshold: 0, limit: 0 } },
      fluentd: { ...off, node_exporter_tag: '', patroni_tag: '', forward: FORWARD, buffer: BUFFER },
      fluentbit: { ...off, etcd_tag: '', node_exporter_tag: '', forward: FORWARD, etcd: { ...off, ...ETCD } },
    }
    expect(await hardwareOf(agents)).toMatchObject({ chrony: undefined, logs: undefined })
  })

  test('parts of what is not enabled', async () => {
    const etcd = { enabled: true, ...GIVEN_ETCD, client: { ...CLIENT, certificate: 'pem' } }
    const fluentbit = { enabled: false, forward: { ...GIVEN_FORWARD, port: 0 }, etcd }
    expect(await hardwareOf({ fluentbit })).toMatchObject({ logs: undefined })
  })

  test('what an agent does not use: a configuration in etcd, or a receiver', async () => {
    const toReceiver = { enabled: true, forward: GIVEN_FORWARD, etcd: { enabled: false, ...ETCD } }
    expect((await hardwareOf({ fluentbit: toReceiver }))?.logs).toMatchObject({
      forward: { domain: 'logs.test', hostname: 'a' },
      etcd: undefined,
    })
    const dynamic = { enabled: true, ...GIVEN_ETCD, client: BY_PASSWORD }
    expect((await hardwareOf({ fluentbit: { enabled: true, forward: FORWARD, etcd: dynamic } }))?.logs).toMatchObject({
      forward: undefined,
      etcd: { keyPrefix: '/logs/', client: { username: 'u' } },
    })
  })

  test('the half of a client that is not used', async () => {
    const byCertificate = { ...CLIENT, certificate: 'pem', key: 'key' }
    for (const [client, login] of [
      [BY_PASSWORD, { username: 'u' }],
      [byCertificate, { certificate: ['pem'] }],
    ]) {
      const etcd = { ca_certificate: 'pem', key_prefix: '/dns/', endpoints: ['10.0.0.9:2379'], client }
      const server = { name: 'd', libvirt_network: { network_name: 'n', ip: '10.0.0.2' }, etcd }
      expect((await load(stackOf({}, { dns: { servers: [server] } }))).dns?.etcd).toMatchObject({ login })
    }
  })
})

describe('what is enabled wants all of its parts', () => {
  test.each([
    ['a receiver', { enabled: true, forward: FORWARD }, 'fluentbit: logs go nowhere; expected "forward"'],
    [
      'its port',
      { enabled: true, forward: { ...GIVEN_FORWARD, port: 0 } },
      'fluentbit.forward.port is 0; expected a number from 1 to 65535',
    ],
    [
      'its name',
      { enabled: true, forward: { ...GIVEN_FORWARD, domain: '' } },
      'fluentbit.forward.domain: "" is not a name or an address; expected letters, digits and "._:/@-"',
    ],
    [
      'a login',
      { enabled: true, etcd: { enabled: true, ...GIVEN_ETCD, client: CLIENT } },
      'fluentbit.etcd: it is enabled without a cluster; expected "endpoints", "ca_certificate" and "client"',
    ],
    [
      'a whole login',
      { enabled: true, etcd: { enabled: true, ...GIVEN_ETCD, client: { ...CLIENT, username: 'u' } } },
      'fluentbit.etcd.client: the login is not complete; expected "certificate" and "key", "username" and "password", or all four',
    ],
    [
      'a prefix, without which it would be all of etcd',
      { enabled: true, etcd: { enabled: true, ...GIVEN_ETCD, client: BY_PASSWORD, key_prefix: '' } },
      'fluentbit.etcd: it has no "key_prefix", and would take all of etcd; expected what the keys begin with',
    ],
  ])('%s', async (_, fluentbit, message) => {
    expect(await problems(stackOf({ fluentbit }))).toEqual([expect.stringContaining(message)])
  })

  test.each([
    ['nothing', { enabled: true }],
    ['empty lists', { enabled: true, servers: [], pools: [], makestep: { threshold: 1, limit: 3 } }],
    ['an empty server', { enabled: true, servers: [{ url: '', options: [] }], pools: [] }],
  ])('somebody whom the clock follows: %s is refused', async (_, chrony) => {
    expect(await problems(stackOf({ chrony }))).toEqual([
      expect.stringContaining('etcd.members[0].chrony: the clock would follow nobody; expected "servers" or "pools"'),
    ])
  })

  test.each(['', '  \n'])('a buffer, where it is customized: %j is refused', async (custom_value) => {
    const fluentd = { enabled: true, forward: GIVEN_FORWARD, buffer: { customized: true, custom_value } }
    expect(await problems(stackOf({ fluentd }))).toEqual([
      expect.stringContaining('fluentd.buffer: the buffer is customized to nothing; expected "custom_value"'),
    ])
  })

  test('endpoints', async () => {
    const etcd = { enabled: true, ...ETCD, key_prefix: '/logs/' }
    const [first] = await problems(stackOf({ fluentbit: { enabled: true, etcd } }))
    expect(first).toContain('fluentbit.etcd.endpoints is an empty list; expected a list of addresses')
  })
})

test('unknown keys are told as ever', async () => {
  const fluentbit = { enabled: false, forward: { ...GIVEN_FORWARD, hostname: 'a', hots: 'a' } }
  const libvirt_network = { ...NETWORK, mac: '', gatewy: '10.0.0.1' }
  expect(await problems(stackOf({ fluentbit, libvirt_network }))).toEqual([
    expect.stringContaining('unknown key "gatewy" in etcd.members[0].libvirt_network; did you mean "gateway"?'),
    expect.stringContaining('unknown key "hots" in etcd.members[0].fluentbit.forward'),
  ])
})

test.each(['24', '128', '0'])('%s is a prefix length, as text, too', async (prefix_length) => {
  const hardware = await hardwareOf({ libvirt_network: { ...NETWORK, prefix_length } })
  expect(hardware?.networks[0].prefixLength).toBe(Number(prefix_length))
})

test('processors, memory and ports may be digits in a text', async () => {
  const fluentbit = { enabled: true, forward: { ...GIVEN_FORWARD, port: '24224' } }
  expect(await hardwareOf({ vcpus: '4', memory: '2048', fluentbit })).toMatchObject({
    ...{ vcpus: 4, memoryMib: 2048, logs: { forward: { port: 24_224 } } },
  })
  expect(await problems(stackOf({ vcpus: 'four', memory: '1' }))).toEqual([
    expect.stringContaining('vcpus is text; expected a number from 1 to 512'),
    expect.stringContaining('memory is text; expected a number from 128'),
  ])
})

test.each(['129', '1000', 'x'])('%s is none', async (prefix_length) => {
  const [first] = await problems(stackOf({ libvirt_network: { ...NETWORK, prefix_length } }))
  expect(first).toContain('prefix_length')
  expect(first).toContain('a number from 0 to 128')
})

test('the name of a Patroni cluster may have "_" in it', async () => {
  const text = 'name: lab\ndomain: lab.test\netcd: { members: 1 }\npostgres: { members: 2, patroni: { scope: my_db } }'
  expect((await load(text)).postgres?.patroni.scope).toBe('my_db')
})
