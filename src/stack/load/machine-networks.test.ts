import { describe, expect, test } from 'vitest'
import { machineSpecs } from '../stack.ts'
import { load, problems } from './testing.ts'

const HEAD = `name: lab
domain: lab.test
target: libvirt
`
const SHARED = 'machine_network: { network_name: default, addresses: 192.168.122.100-192.168.122.102 }\n'

async function addresses(text: string, kept: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
  const specs = machineSpecs(await load(`${HEAD}${text}`, { kept }))
  return Object.fromEntries(specs.map(({ name, address }) => [name, address]))
}

describe('machines without a network of their own', () => {
  test('get the lowest addresses that are free', async () => {
    expect(await addresses(`${SHARED}etcd: { members: 2 }\ndns: { servers: 1 }`)).toEqual({
      'etcd-1': '192.168.122.100',
      'etcd-2': '192.168.122.101',
      'dns-1': '192.168.122.102',
    })
  })

  test('keep what they have had, and leave alone what others name or still have', async () => {
    const own = '{ name: etcd-2, libvirt_network: { network_name: default, ip: 192.168.122.100 } }'
    const kept = { 'etcd-1': '192.168.122.102', gone: '192.168.122.101' }
    expect(await addresses(`${SHARED}etcd: { members: [{ name: etcd-1 }, ${own}] }`, kept)).toEqual({
      'etcd-1': '192.168.122.102',
      'etcd-2': '192.168.122.100',
    })
  })

  test('have an interface on that network', async () => {
    const [{ hardware }] = machineSpecs(await load(`${HEAD}${SHARED}etcd: { members: 1 }`))
    expect(hardware.networks).toEqual([
      {
        ...{ attach: { networkName: 'default' }, ip: '192.168.122.100', mac: undefined },
        ...{ prefixLength: undefined, gateway: undefined, dnsServers: [] },
      },
    ])
  })
})

test('services are reached at the first interface of a machine', async () => {
  const macvtap = '{ interface: ens3, ip: 10.0.0.9, prefix_length: 24 }'
  const networks = `libvirt_network: { network_name: a, ip: 10.1.0.4 }, macvtap_interfaces: [${macvtap}]`
  expect(
    await addresses(
      `etcd: { members: [{ name: one, ${networks} }, { name: two, macvtap_interfaces: [${macvtap.replace('.9', '.8')}] }] }`,
    ),
  ).toEqual({ one: '10.1.0.4', two: '10.0.0.8' })
})

test.each([
  ['etcd: { members: 1 }', 'it has no network; expected "libvirt_network" or "macvtap_interfaces"'],
  [
    'etcd: { members: [{ name: a, libvirt_network: { network_name: default } }] }',
    'an interface has no address; expected "ip"',
  ],
  [
    `${SHARED}etcd: { members: 4 }`,
    '192.168.122.100-192.168.122.102 has none left for "etcd-4"; expected more of them',
  ],
  [
    'machine_network: { network_name: default, addresses: 10.0.0.9-10.0.0.1 }\netcd: { members: 1 }',
    '"10.0.0.9-10.0.0.1" is not a range of addresses; expected the first and the last address',
  ],
])('%j is refused', async (text, message) => {
  expect((await problems(`${HEAD}${text}`))[0]).toContain(message)
})

test('addresses of machines that are virtual have nothing to do with those of processes', async () => {
  expect(await addresses(`${SHARED}etcd: { members: [{ name: a, local_address: 127.9.9.9 }] }`)).toEqual({
    a: '192.168.122.100',
  })
})

test('gateways beside the first of a family are told of, as no route leads to them', async () => {
  const macvtap = (ip: string, gateway: string) =>
    `{ interface: ens3, ip: "${ip}", prefix_length: 16, gateway: "${gateway}" }`
  const all = [
    macvtap('10.1.0.2', '10.1.0.1'),
    macvtap('fd01::2', 'fd01::1'),
    macvtap('10.2.0.2', '10.2.0.1'),
    macvtap('10.3.0.2', '10.3.0.1'),
  ]
  const noticesOf = async (some: readonly string[]) =>
    (await load(`${HEAD}etcd: { members: [{ name: a, macvtap_interfaces: [${some.join(', ')}] }] }`)).notices
  expect(await noticesOf(all.slice(0, 2))).toEqual([])
  expect(await noticesOf(all)).toEqual([
    expect.stringMatching(
      /4:19: it has several gateways: the default route uses 10\.1\.0\.1; 10\.2\.0\.1, 10\.3\.0\.1 are ignored$/u,
    ),
  ])
})
