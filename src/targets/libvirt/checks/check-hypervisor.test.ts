import { expect, test } from 'vitest'
import {
  domain,
  type HypervisorData,
  hypervisorOf,
  network,
  pool,
  volume,
} from '../../../../test/support/hypervisor-data.ts'
import { HARDWARE } from '../../../../test/support/machine-spec.ts'
import { HoldfastError } from '../../../lib/errors.ts'
import type { Hardware, NetworkInterface } from '../../../machine/hardware.ts'
import type { Machine } from '../../../machine/machine.ts'
import { isProblem } from '../../finding.ts'
import { checkHypervisor } from './check-hypervisor.ts'
import { checkPrograms } from './programs.ts'

const LAN: NetworkInterface = {
  attach: { networkName: 'lan' },
  ip: '192.168.121.4',
  mac: undefined,
  prefixLength: undefined,
  gateway: undefined,
  dnsServers: [],
}
const DATA: HypervisorData = {
  networks: [network('lan')],
  hostInterfaces: ['enp1s0'],
  pools: [pool('default'), pool('data')],
  volumes: [volume('default', 'etcd-1'), volume('data', 'etcd-1'), volume('default', 'base.qcow2')],
}
const QUESTION = {
  stack: 'lab',
  programHash: 'abcd',
  chooseType: () => Promise.resolve('kvm' as const),
  findOrphan: async () => undefined,
}

function machineOf(hardware: Partial<Hardware> = {}): Machine {
  return {
    name: 'etcd-1',
    kind: 'etcd',
    address: '192.168.121.4',
    hardware: { ...HARDWARE, volumeId: 'default/etcd-1', networks: [LAN], ...hardware },
    packages: [],
    directories: [],
    files: [],
    services: [],
    ports: [],
  }
}

async function check(hardware: Partial<Hardware> = {}, data: HypervisorData = {}) {
  return checkHypervisor(hypervisorOf({ ...DATA, ...data }), [machineOf(hardware)], QUESTION)
}

async function troubles(hardware: Partial<Hardware>, data: HypervisorData = {}): Promise<readonly string[]> {
  const findings = await check(hardware, data)
  return findings
    .filter(({ state }) => state !== 'ok')
    .map(({ state, check: name, message }) => `${state} ${name}: ${message}`)
}

test('a hypervisor that has everything is well', async () => {
  const findings = await check()
  expect(findings.map(({ state }) => state)).toEqual(findings.map(() => 'ok'))
  expect(findings.map(({ check: name }) => name)).toEqual(['hypervisor', 'memory', 'disk'])
})

test('one that cannot be reached is a problem, and the only one', async () => {
  const unreachable = {
    ...hypervisorOf(),
    host: () => Promise.reject(new HoldfastError('HypervisorUnreachable', 'Cannot reach it', { hint: 'try' })),
  }
  expect(await checkHypervisor(unreachable, [machineOf()], QUESTION)).toEqual([
    { check: 'hypervisor', state: 'problem', message: 'Cannot reach it', fix: 'try' },
  ])
})

test('what is in the way of a machine is a problem with its fix', async () => {
  const findings = await check({ networks: [{ ...LAN, attach: { networkName: 'lam' } }], cloudInitVolumePool: 'x' })
  expect(findings.filter(isProblem)).toMatchObject([
    { check: 'networks', fix: 'did you mean "lan"?' },
    { check: 'volumes' },
  ])
})

test('an address of DHCP is a warning', async () => {
  const ranges = [{ first: '192.168.121.2', last: '192.168.121.254' }]
  expect(await troubles({}, { networks: [network('lan', { ranges })] })).toEqual([
    expect.stringContaining('warning networks: 192.168.121.4'),
  ])
})

test('memory that is not free is a warning, memory that is not there a problem', async () => {
  const host = { memoryMib: 16_384, freeMemoryMib: 4096 }
  expect(await troubles({ memoryMib: 8192 }, { host })).toEqual([expect.stringContaining('warning memory: 8192 MiB')])
  expect(await troubles({ memoryMib: 32_768 }, { host })).toEqual([
    expect.stringContaining('problem memory: 32768 MiB'),
  ])
})

test('more processors than there are is a warning', async () => {
  expect(await troubles({ vcpus: 16 })).toEqual([expect.stringContaining('warning processors: "etcd-1"')])
})

test('a pool that is nearly full is a warning, and a full one a problem', async () => {
  const made = { volumeId: undefined, baseVolume: 'base.qcow2' }
  const left = (availableBytes: number) => ({ pools: [pool('default', { availableBytes })] })
  expect(await troubles(made, left(1024 ** 3))).toEqual([expect.stringContaining('warning disk: pool "default"')])
  expect(await troubles(made, left(1024))).toEqual([expect.stringContaining('problem disk: pool "default"')])
})

test('with AppArmor, a disk that libvirt cannot look into is a warning with the line to add', async () => {
  const host = { security: ['apparmor', 'dac'] }
  expect(await troubles({}, { host })).toEqual([])
  const findings = await check({ volumeId: 'data/etcd-1' }, { host })
  expect(findings.find(({ check: name }) => name === 'apparmor')).toMatchObject({
    state: 'warning',
    fix: expect.stringContaining('"/var/lib/libvirt/data/**" r,') as unknown,
  })
})

test('macvtap on this host is a warning, elsewhere not', async () => {
  const networks = [
    { ...LAN, attach: { macvtap: 'enp1s0' }, prefixLength: 24, gateway: '192.168.121.1', dnsServers: ['9.9.9.9'] },
  ]
  expect(await troubles({ networks })).toEqual([
    expect.stringContaining('warning macvtap: this host does not reach "etcd-1"'),
  ])
  expect(await troubles({ networks }, { isLocal: false })).toEqual([])
})

test('packages to install without a way out, or without names, are a warning', async () => {
  const isolated = { networks: [network('lan', { forward: undefined })] }
  expect(await troubles({}, isolated)).toEqual([
    expect.stringMatching(/^warning outgoing: .*no network of theirs has a gateway/u),
  ])
  expect(await troubles({ installDependencies: false }, isolated)).toEqual([])
  const nameless = { ...LAN, gateway: '192.168.121.1' }
  expect(await troubles({ networks: [nameless] }, isolated)).toEqual([expect.stringContaining('have no name servers')])
})

test('a machine that runs has its memory already', async () => {
  const host = { memoryMib: 16_384, freeMemoryMib: 1 }
  const findings = await check({ memoryMib: 8192 }, { host, domains: [domain('lab-etcd-1')] })
  expect(findings.find(({ check: name }) => name === 'memory')?.state).toBe('ok')
})

test('programs that are not installed are named with their packages', () => {
  expect(checkPrograms(['qemu+ssh://kvm1/system'], '/nowhere')).toMatchObject([
    { state: 'problem', fix: 'apt-get install libvirt-clients xorriso openssh-client' },
  ])
  expect(checkPrograms(['qemu:///system'], '/nowhere')[0].message).toBe('not installed: virsh, xorriso')
})
