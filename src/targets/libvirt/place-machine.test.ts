import { describe, expect, test } from 'vitest'
import {
  domain,
  type HypervisorData,
  hypervisorOf,
  network,
  pool,
  volume,
} from '../../../test/support/hypervisor-data.ts'
import { HARDWARE } from '../../../test/support/machine-spec.ts'
import type { Hardware, NetworkInterface } from '../../machine/hardware.ts'
import type { Machine, Service } from '../../machine/machine.ts'
import { hardwareOf } from './hardware-changes.ts'
import { macOf, uuidOf } from './identity.ts'
import { readPlaceFacts } from './place-facts.ts'
import { placeMachine, placeMachines, throwProblems } from './place-machine.ts'
import type { Placement } from './placement.ts'
import { formatRecord } from './record-xml.ts'

const LAN: NetworkInterface = {
  attach: { networkName: 'lan' },
  ip: '192.168.121.4',
  mac: undefined,
  prefixLength: undefined,
  gateway: undefined,
  dnsServers: [],
}
const MACVTAP: NetworkInterface = { ...LAN, attach: { macvtap: 'enp1s0' }, ip: '10.0.0.4', prefixLength: 8 }

const DATA: HypervisorData = {
  networks: [network('lan', { ranges: [{ first: '192.168.121.100', last: '192.168.121.200' }] })],
  hostInterfaces: ['enp1s0'],
  pools: [pool('default'), pool('os')],
  volumes: [volume('default', 'etcd-1'), volume('default', 'data-1'), volume('os', 'debian.qcow2')],
}

function machineOf(hardware: Partial<Hardware> = {}, name = 'etcd-1'): Machine {
  return {
    name,
    kind: 'etcd',
    address: hardware.networks?.[0]?.ip ?? '192.168.121.4',
    hardware: { ...HARDWARE, volumeId: `default/${name}`, networks: [LAN], ...hardware },
    packages: [],
    directories: [],
    files: [],
    services: [],
    ports: [],
  }
}

function factsFor(machines: readonly Machine[], data: HypervisorData = {}, stackId?: string) {
  return readPlaceFacts(hypervisorOf({ ...DATA, ...data }), machines, {
    stack: 'lab',
    ...(stackId !== undefined && { stackId }),
    programHash: 'abcd',
    chooseType: () => Promise.resolve('kvm'),
    findOrphan: async () => undefined,
  })
}

async function place(hardware: Partial<Hardware> = {}, data: HypervisorData = {}): Promise<Placement> {
  const machine = machineOf(hardware)
  return placeMachine(machine, await factsFor([machine], data), 'iid-1')
}

async function refusals(machines: readonly Machine[], data: HypervisorData = {}) {
  const { problems } = placeMachines(machines, await factsFor(machines, data))
  return problems.map(({ code, message, hint }) => ({ code, message, hint }))
}

/** The domain of a machine as it was made. */
async function madeBefore(machine: Machine): Promise<ReturnType<typeof domain>> {
  const placement = placeMachine(machine, await factsFor([machine]), 'iid-0')
  const metadata = formatRecord({
    stack: 'lab',
    machine: machine.name,
    kind: machine.kind,
    address: machine.address,
    instanceId: 'iid-0',
    seedDigest: '',
    disks: placement.disks,
    hardware: hardwareOf(machine, placement),
  })
  const { disks, interfaces } = placement
  return domain(placement.domain, {
    uuid: placement.uuid,
    metadata,
    definition: {
      type: 'qemu',
      vcpus: 2,
      memoryMib: 1,
      macs: interfaces.map(({ mac }) => mac),
      disks: [disks.root.path, disks.seed.path],
    },
  })
}

describe('networks', () => {
  test('what is left open is what libvirt says of the network', async () => {
    const { interfaces } = await place()
    expect(interfaces).toEqual([
      {
        attach: { network: 'lan' },
        mac: macOf('lab', 'etcd-1', 0),
        ip: '192.168.121.4',
        prefixLength: 24,
        gateway: '192.168.121.1',
        dnsServers: ['192.168.121.1'],
      },
    ])
  })

  test('what is given counts', async () => {
    const given = {
      ...{ ip: '192.168.121.9', mac: '52:54:00:AB:00:01', prefixLength: 25 },
      ...{ gateway: '192.168.121.2', dnsServers: ['9.9.9.9'] },
    }
    const { interfaces } = await place({ networks: [{ ...LAN, ...given }] })
    expect(interfaces[0]).toMatchObject({ ...given, mac: '52:54:00:ab:00:01' })
  })

  test('a network is found by its id, in either case', async () => {
    const networkId = network('lan').uuid.toUpperCase()
    const { interfaces } = await place({ networks: [{ ...LAN, attach: { networkId } }] })
    expect(interfaces[0].attach).toEqual({ network: 'lan' })
  })

  test('an isolated network has no way out and no names', async () => {
    const { interfaces } = await place({}, { networks: [network('lan', { forward: undefined })] })
    expect(interfaces[0]).toMatchObject({ gateway: undefined, dnsServers: [] })
  })

  test('only the first network that has one gives its gateway', async () => {
    const { interfaces } = await place(
      { networks: [LAN, { ...LAN, attach: { networkName: 'two' }, ip: '10.1.0.4' }] },
      {
        networks: [
          network('lan'),
          network('two', { uuid: 'x', addresses: [{ address: '10.1.0.1', prefixLength: 16 }] }),
        ],
      },
    )
    expect(interfaces.map(({ gateway }) => gateway)).toEqual(['192.168.121.1', undefined])
  })

  test('each family has a way out of its own', async () => {
    const networks = [LAN, { ...LAN, attach: { networkName: 'six' }, ip: 'fd00::4' }]
    const six = network('six', { uuid: 'x', addresses: [{ address: 'fd00::1', prefixLength: 64 }] })
    const { interfaces } = await place({ networks }, { networks: [network('lan'), six] })
    expect(interfaces.map(({ gateway }) => gateway)).toEqual(['192.168.121.1', 'fd00::1'])
  })

  test('a gateway that the stack file gives comes before one that only libvirt says, of its family', async () => {
    const six = network('six', { uuid: 'x', addresses: [{ address: 'fd00::1', prefixLength: 64 }] })
    const networks = [
      LAN,
      { ...LAN, attach: { networkName: 'six' }, ip: 'fd00::4' },
      { ...MACVTAP, gateway: '10.0.0.1' },
    ]
    const data = { networks: [network('lan'), six] }
    const { interfaces } = await place({ networks }, data)
    expect(interfaces.map(({ gateway }) => gateway)).toEqual([undefined, 'fd00::1', '10.0.0.1'])
    // Also where the machine was made before it was given.
    const before = machineOf({ networks: [LAN, MACVTAP] })
    const domains = [await madeBefore(before)]
    const now = machineOf({ networks: [LAN, { ...MACVTAP, gateway: '10.0.0.1' }] })
    const ways = placeMachine(now, await factsFor([now], { domains })).interfaces.map(({ gateway }) => gateway)
    expect(ways).toEqual([undefined, '10.0.0.1'])
  })

  test('a macvtap interface is as the stack file has it', async () => {
    const { interfaces } = await place({ networks: [MACVTAP] })
    expect(interfaces[0]).toMatchObject({ attach: { macvtap: 'enp1s0' }, prefixLength: 8, gateway: undefined })
  })

  test('an address that DHCP gives away is worth a note', async () => {
    const machine = machineOf({ networks: [{ ...LAN, ip: '192.168.121.150' }] })
    const { problems, notes } = placeMachines([machine], await factsFor([machine]))
    expect(problems).toEqual([])
    expect(notes).toEqual([expect.stringContaining('192.168.121.100 to 192.168.121.200')])
  })

  test.each<[string, Partial<NetworkInterface>, string, string]>([
    ['a network that is not there', { attach: { networkName: 'lam' } }, 'NetworkMissing', 'it has "lan"'],
    ['an id that is not there', { attach: { networkId: 'nope' } }, 'NetworkMissing', 'none of that id'],
    ['an interface that is not there', { attach: { macvtap: 'enp2s0' } }, 'InterfaceMissing', 'it has "enp1s0"'],
    ['an address outside', { ip: '192.168.122.4' }, 'AddressOutsideNetwork', 'outside of 192.168.121.0/24'],
    ["the host's own", { ip: '192.168.121.1' }, 'AddressOutsideNetwork', "the host's own"],
    ['the address of the network', { ip: '192.168.121.0' }, 'AddressOutsideNetwork', 'stands for all of'],
    ['the broadcast address', { ip: '192.168.121.255' }, 'AddressOutsideNetwork', 'stands for all of'],
    ['a gateway elsewhere', { gateway: '10.0.0.1' }, 'AddressOutsideNetwork', 'its gateway 10.0.0.1'],
    ['a prefix too long', { prefixLength: 64 }, 'AddressOutsideNetwork', 'at most 32'],
    ['macvtap without a prefix', { ...MACVTAP, prefixLength: undefined }, 'PrefixMissing', 'only the stack file'],
  ])('%s is refused', async (_, given, code, text) => {
    expect(await refusals([machineOf({ networks: [{ ...LAN, ...given }] })])).toEqual([
      expect.objectContaining({ code, message: expect.stringContaining(text) as unknown }),
    ])
  })

  test('a typing error has a suggestion', async () => {
    const [refusal] = await refusals([machineOf({ networks: [{ ...LAN, attach: { networkName: 'lam' } }] })])
    expect(refusal.hint).toBe('did you mean "lan"?')
  })

  test('no network, no address and a network that is not active are refused, with what to do', async () => {
    expect(await refusals([machineOf({ networks: [] })])).toMatchObject([
      { code: 'NetworkMissing', hint: expect.stringContaining('"libvirt_network"') as unknown },
    ])
    expect(await refusals([machineOf({ networks: [LAN, { ...MACVTAP, ip: undefined }] })])).toMatchObject([
      { code: 'AddressMissing' },
    ])
    expect(await refusals([machineOf()], { networks: [network('lan', { isActive: false })] })).toMatchObject([
      { code: 'NetworkInactive', hint: 'virsh -c qemu:///system net-start lan' },
    ])
  })
})

describe('disks', () => {
  test('a volume that is given is taken and not ours; the cloud-init volume is made beside', async () => {
    const { disks } = await place({ dataVolumeId: '/var/lib/libvirt/images/data-1' })
    expect(disks).toEqual({
      root: { path: '/var/lib/libvirt/images/etcd-1', format: 'qcow2', isOurs: false },
      data: { path: '/var/lib/libvirt/images/data-1', format: 'qcow2', isOurs: false },
      seed: { path: '/var/lib/libvirt/images/lab-etcd-1-cloud-init.iso', format: 'raw', pool: 'default', isOurs: true },
      program: undefined,
    })
  })

  test('a root disk is made from a base volume', async () => {
    const { disks } = await place({ volumeId: undefined, baseVolume: 'debian.qcow2', volumePool: 'os' })
    expect(disks.root).toEqual({
      ...{ path: '/var/lib/libvirt/os/lab-etcd-1.qcow2', format: 'qcow2', pool: 'os', isOurs: true },
      base: { path: '/var/lib/libvirt/os/debian.qcow2', version: `${10 * 1024 ** 3} ${1024 ** 3}` },
    })
  })

  test('a machine with our own program gets it from beside its cloud-init volume', async () => {
    const service: Service = {
      ...{ name: 'dns', user: 'holdfast', environment: {}, stopSignal: 'SIGTERM', stopTimeoutMs: 1 },
      command: ['/opt/holdfast/program/abcd/node'],
    }
    const machine = { ...machineOf(), services: [service] }
    expect(placeMachine(machine, await factsFor([machine])).disks.program).toEqual({
      ...{ path: '/var/lib/libvirt/images/holdfast-program-abcd.iso', format: 'raw', pool: 'default', isOurs: false },
    })
  })

  test.each<[string, Partial<Hardware>, HypervisorData, string, string]>([
    ['no disk', { volumeId: undefined }, {}, 'VolumeMissing', 'no root disk'],
    ['a volume that is not there', { volumeId: 'default/x' }, {}, 'VolumeMissing', 'no such volume'],
    ['a volume of no pool', { volumeId: 'defualt/x' }, {}, 'VolumeMissing', 'pools are "default", "os"'],
    [
      'a base that is not there',
      { volumeId: undefined, baseVolume: 'os/x' },
      {},
      'VolumeMissing',
      'base_volume "os/x"',
    ],
    [
      'a size below that of the base',
      { volumeId: undefined, baseVolume: 'os/debian.qcow2', volumeSizeGib: 5 },
      {},
      'VolumeTooSmall',
      'has 10.0 GiB',
    ],
    ['a data disk that is the root disk', { dataVolumeId: 'default/etcd-1' }, {}, 'VolumeInUse', 'its data disk'],
    [
      'a base that another domain writes to',
      { volumeId: undefined, baseVolume: 'os/debian.qcow2' },
      {
        domains: [
          domain('other', { definition: { ...domain('').definition, disks: ['/var/lib/libvirt/os/debian.qcow2'] } }),
        ],
      },
      'VolumeInUse',
      'domain "other" has it as its own disk',
    ],
    ['a pool that is not there', { cloudInitVolumePool: 'oss' }, {}, 'PoolMissing', 'it has "default", "os"'],
    ['no pool at all', {}, { pools: [pool('os')] }, 'PoolMissing', 'names no volume pool'],
    ['a pool that is not active', {}, { pools: [pool('default', { isActive: false })] }, 'PoolInactive', 'not active'],
    ['a pool without paths', {}, { pools: [pool('default', { path: undefined, type: 'rbd' })] }, 'PoolMissing', 'rbd'],
    [
      "a cloud-init volume that is somebody else's",
      {},
      { volumes: [...(DATA.volumes ?? []), volume('default', 'lab-etcd-1-cloud-init.iso')] },
      'VolumeForeign',
      'left alone',
    ],
    [
      "a root volume that is somebody else's",
      { volumeId: undefined, baseVolume: 'os/debian.qcow2' },
      { volumes: [...(DATA.volumes ?? []), volume('default', 'lab-etcd-1.qcow2')] },
      'VolumeForeign',
      'left alone',
    ],
  ])('%s is refused', async (_, hardware, data, code, text) => {
    expect(await refusals([machineOf(hardware)], data)).toEqual([
      expect.objectContaining({ code, message: expect.stringContaining(text) as unknown }),
    ])
  })

  test('containers have directories', async () => {
    const directory = (path: string, real = path) => volume('default', '', { key: path, path: real, format: 'dir' })
    const volumes = [
      directory('/srv/link', '/srv/roots/etcd-1'),
      directory('/srv/link/sbin', '/srv/roots/etcd-1/usr/sbin'),
      ...[directory('/'), directory('//sbin', '/usr/sbin'), directory('/etc')],
    ]
    const { disks, arch } = await place({ volumeId: '/srv/link' }, { kind: 'lxc', volumes })
    for (const [volumeId, why] of Object.entries({ '/': 'root of the host', '/etc': 'no sbin', '/none': 'no such' }))
      expect(await refusals([machineOf({ volumeId })], { kind: 'lxc', volumes })).toMatchObject([
        { code: 'VolumeMissing', message: expect.stringContaining(why) as unknown },
      ])
    expect(disks.root).toEqual({ path: '/srv/roots/etcd-1', format: 'dir', isOurs: false })
    expect(disks.seed).toMatchObject({
      path: '/var/lib/libvirt/images/lab-etcd-1-cloud-init',
      format: 'dir',
      isOurs: true,
    })
    expect(arch).toBe('x86_64')
    expect(await refusals([machineOf({ volumeId: undefined, baseVolume: 'x' })], { kind: 'lxc' })).toMatchObject([
      { code: 'VolumeMissing', message: expect.stringContaining('no root directory') as unknown },
    ])
  })
})

test('a machine that is not there is another instance each time it is made', async () => {
  const machine = machineOf()
  const facts = await factsFor([machine])
  const ids = [
    placeMachine(machine, facts),
    placeMachine(machine, facts),
    ...placeMachines([machine], facts).placements.values(),
  ]
  expect(new Set(ids.map(({ instanceId }) => instanceId)).size).toBe(3)
})

describe('a machine that is there', () => {
  test('keeps its volumes, its instance and what auto has chosen', async () => {
    const machine = machineOf({ volumeId: undefined, baseVolume: 'os/debian.qcow2' })
    const made = await madeBefore(machine)
    const volumes = ['lab-etcd-1.qcow2', 'lab-etcd-1-cloud-init.iso'].map((name) => volume('default', name))
    const facts = await factsFor([machine], { domains: [made], volumes: [...(DATA.volumes ?? []), ...volumes] })
    expect(placeMachine(machine, facts)).toMatchObject({ instanceId: 'iid-0', domainType: 'qemu' })
  })

  test('keeps what the stack file leaves open of its network, whatever libvirt says of that now', async () => {
    const machine = machineOf()
    const domains = [await madeBefore(machine)]
    const networks = [network('lan', { addresses: [{ address: '192.168.121.2', prefixLength: 16 }] })]
    const [now] = placeMachine(machine, await factsFor([machine], { domains, networks })).interfaces
    expect(now).toMatchObject({ prefixLength: 24, gateway: '192.168.121.1', dnsServers: ['192.168.121.1'] })
    const given = machineOf({ networks: [{ ...LAN, gateway: '192.168.121.9' }] })
    const [other] = placeMachine(given, await factsFor([given], { domains, networks })).interfaces
    expect(other).toMatchObject({ gateway: '192.168.121.9', dnsServers: ['192.168.121.1'] })
  })

  test('is refused on a base that is not the one its disk was made from, under the same name', async () => {
    const machine = machineOf({ volumeId: undefined, baseVolume: 'os/debian.qcow2' })
    const domains = [await madeBefore(machine)]
    const root = volume('default', 'lab-etcd-1.qcow2')
    const rebuilt = volume('os', 'debian.qcow2', { modified: '1700000000.1' })
    expect(await refusals([machine], { domains, volumes: [root, rebuilt] })).toMatchObject([
      { code: 'BaseChanged', message: expect.stringContaining('is not the one that the disk of "etcd-1"') as unknown },
    ])
    // Without its disk it is made from the new one.
    expect(await refusals([machine], { domains, volumes: [rebuilt] })).toEqual([])
    const renamed = machineOf({ volumeId: undefined, baseVolume: 'os/debian-2.qcow2' })
    const volumes = [root, volume('os', 'debian-2.qcow2')]
    const { disks } = placeMachine(renamed, await factsFor([renamed], { domains, volumes }))
    expect(disks.root.base?.path).toBe('/var/lib/libvirt/os/debian.qcow2')
  })

  test('is of this stack and of no other of the same name', async () => {
    const machine = machineOf()
    const { metadata = '', ...made } = await madeBefore(machine)
    const named = (id: string) => ({ domains: [{ ...made, metadata: metadata.replace('{', `{"stackId":"${id}",`) }] })
    const problems = async (data: HypervisorData) =>
      placeMachines([machine], await factsFor([machine], data, 'a')).problems
    expect(await problems(named('b'))).toMatchObject([{ code: 'StackElsewhere' }])
    expect(await problems(named('a'))).toEqual([])
    expect(await problems({ domains: [{ ...made, metadata }] })).toEqual([])
  })

  test('is somebody else’s without our record, and is left alone', async () => {
    expect(await refusals([machineOf()], { domains: [domain('lab-etcd-1')] })).toMatchObject([
      { code: 'DomainForeign', message: expect.stringContaining('not made by Holdfast') as unknown },
    ])
    const other = domain('renamed', { uuid: uuidOf('lab', 'etcd-1') })
    expect(await refusals([machineOf()], { domains: [other] })).toMatchObject([
      { code: 'DomainForeign', message: expect.stringContaining('has its UUID') as unknown },
    ])
  })

  test('may be of another stack whose names run together to the same', async () => {
    const { metadata = '' } = await madeBefore(machineOf())
    const theirs = metadata
      .replace('"stack":"lab"', '"stack":"lab-etcd"')
      .replace('"machine":"etcd-1"', '"machine":"1"')
    expect(await refusals([machineOf()], { domains: [domain('lab-etcd-1', { metadata: theirs })] })).toMatchObject([
      { code: 'DomainForeign', message: expect.stringContaining('of stack "lab-etcd"') as unknown },
    ])
  })
})

describe('what another domain has', () => {
  const other = (facts: Partial<ReturnType<typeof domain>['definition']>) =>
    domain('web', { definition: { type: 'kvm', vcpus: 1, memoryMib: 1, macs: [], disks: [], ...facts } })

  test('cannot be had twice: MAC addresses and volumes', async () => {
    const mac = macOf('lab', 'etcd-1', 0).toUpperCase()
    expect(await refusals([machineOf()], { domains: [other({ macs: [mac] })] })).toMatchObject([
      { code: 'MacTaken', message: expect.stringContaining('domain "web" has it') as unknown },
    ])
    const disks = ['/var/lib/libvirt/images/etcd-1']
    expect(await refusals([machineOf()], { domains: [other({ disks })] })).toMatchObject([
      { code: 'VolumeInUse', message: expect.stringContaining('domain "web" has it') as unknown },
    ])
  })

  test('nor an address, on the same network', async () => {
    const domains = [{ ...(await madeBefore(machineOf({}, 'etcd-1'))), name: 'old-etcd-1', uuid: 'x' }]
    const machine = machineOf(
      { networks: [{ ...LAN, mac: '52:54:00:00:00:01' }], volumeId: 'default/data-1' },
      'etcd-9',
    )
    expect(await refusals([machine], { domains })).toMatchObject([
      {
        code: 'AddressTaken',
        message: 'Cannot give "etcd-9" the address 192.168.121.4: domain "old-etcd-1" has it; expected one of its own',
      },
    ])
  })

  test('nor may two machines of the stack have the same', async () => {
    const network = { ...LAN, mac: '52:54:00:00:00:01' }
    const machines = ['a', 'b'].map((name) => machineOf({ volumeId: 'default/etcd-1', networks: [network] }, name))
    const found = await refusals(machines)
    expect(found.map(({ code }) => code)).toEqual(['MacTaken', 'AddressTaken', 'VolumeInUse'])
    expect(found[0].message).toContain('machine "a" has it')
  })
})

test('all that is in the way of all machines is told at once', async () => {
  const machines = [machineOf({ networks: [] }), machineOf({ volumeId: 'default/x' }, 'b')]
  const { problems, placements } = placeMachines(machines, await factsFor(machines))
  expect(placements.size).toBe(0)
  expect(() => throwProblems(problems)).toThrow(
    expect.objectContaining({
      code: 'MachinesUnplaceable',
      message: expect.stringMatching(/"etcd-1".*\n.*"b"/u) as unknown,
    }),
  )
  expect(() => throwProblems(problems.slice(1))).toThrow(expect.objectContaining({ code: 'VolumeMissing' }))
  expect(() => throwProblems([])).not.toThrow()
})

test('a thousand machines beside a thousand domains are placed with few questions', async () => {
  const machines = Array.from({ length: 1000 }, (_, index) => {
    const ip = `10.0.${index >> 8}.${index & 255}`
    const on = { ...LAN, attach: { networkName: 'wide' }, ip }
    return machineOf({ volumeId: undefined, baseVolume: 'os/debian.qcow2', networks: [on] }, `m${index + 1}`)
  }).slice(1)
  const wide = network('wide', { addresses: [{ address: '10.0.255.254', prefixLength: 16 }] })
  const domains = Array.from({ length: 1000 }, (_, index) => domain(`web-${index}`, { uuid: `${index}` }))
  const facts = await factsFor(machines, { networks: [wide], domains })
  const { placements, problems } = placeMachines(machines, facts)
  expect(problems).toEqual([])
  expect(placements.size).toBe(999)
})
