import { expect, test } from 'vitest'
import { hypervisorOf, pool, volume } from '../../../test/support/hypervisor-data.ts'
import { AcceleratorChoice } from './accelerator.ts'
import type { DomainState, Hypervisor, Pool } from './hypervisor.ts'
import { probeDisk } from './probe-program.ts'

function choiceWith(lines: string[] = []) {
  return new AcceleratorChoice({ signal: new AbortController().signal, progress: (line) => lines.push(line) })
}

test('what is asked for is taken without trying', async () => {
  expect(await choiceWith().choose(hypervisorOf(), 'kvm')).toBe('kvm')
  expect(await choiceWith().choose(hypervisorOf(), 'tcg')).toBe('qemu')
  expect(await choiceWith().choose(hypervisorOf({ kind: 'lxc' }), 'auto')).toBe('lxc')
})

test('KVM where there is none is an error', async () => {
  const hypervisor = hypervisorOf({ host: { domainTypes: ['qemu'] } })
  await expect(choiceWith().choose(hypervisor, 'kvm')).rejects.toMatchObject({ code: 'AcceleratorMissing' })
})

test('auto without KVM is emulation, and says so once', async () => {
  const lines: string[] = []
  const choice = choiceWith(lines)
  const hypervisor = hypervisorOf({ host: { domainTypes: ['qemu'] } })
  expect(await choice.choose(hypervisor, 'auto')).toBe('qemu')
  expect(await choice.choose(hypervisor, 'auto')).toBe('qemu')
  expect(lines).toEqual(['qemu:///system has no KVM; its machines are emulated, which is slow'])
})

test('what is to be expected is told without trying', async () => {
  const expected = (types: readonly string[]) =>
    choiceWith().expect(hypervisorOf({ host: { domainTypes: types }, pools: [pool('default')] }), 'auto')
  expect(await expected(['kvm', 'qemu'])).toBe('kvm')
  expect(await expected(['qemu'])).toBe('qemu')
})

test('auto believes what it cannot try', async () => {
  expect(await choiceWith().choose(hypervisorOf({ host: { arch: 'aarch64' } }), 'auto')).toBe('kvm')
})

test.each([
  ['a directory', [pool('default')], "<source file='/var/lib/libvirt/images/holdfast-probe-"],
  ['a volume group', [pool('default', { type: 'logical', path: '/dev/vg' })], "<source dev='/dev/vg/holdfast-probe-"],
  [
    'targets of iSCSI, and a directory',
    [pool('default', { type: 'iscsi', path: '/dev/disk/by-path' }), pool('other')],
    "<source file='/var/lib/libvirt/other/holdfast-probe-",
  ],
])('with %s for pools, what is tried is where it will be', async (_, pools, source) => {
  const defined: string[] = []
  expect(await choiceWith().choose(bootingHypervisor(pools, defined), 'auto')).toBe('kvm')
  expect(defined[0]).toContain(source)
  expect(defined[0]).toContain(`<disk type='${source.includes(' dev=') ? 'block' : 'file'}' device='disk'>`)
})

test.each([
  ['kvm', ['running', 'other', 'shut off']],
  ['qemu', ['running', 'paused']],
  ['qemu', ['crashed']],
] as const)('auto is %s when what is tried is %j', async (type, states) => {
  expect(await choiceWith().choose(bootingHypervisor([pool('default')], [], [...states]), 'auto')).toBe(type)
})

test('the disk of the probe is one that firmware boots', () => {
  const disk = Buffer.from(probeDisk())
  expect(disk.readUInt16LE(510)).toBe(0xaa55)
  // The table of segments is where the code looks for it.
  expect(disk.readUInt32LE(0xda)).toBe(0x7cc0)
  expect(disk.subarray(0xde, 510).every((byte) => byte === 0)).toBe(true)
})

/** Its machines boot and turn themselves off: at once, or after `states`. */
function bootingHypervisor(
  pools: readonly Pool[],
  defined: string[] = [],
  states: DomainState['state'][] = [],
): Hypervisor {
  const done = () => Promise.resolve()
  const hypervisor: Hypervisor = {
    ...hypervisorOf({ pools }),
    ...{ start: done, destroy: done, undefine: done, upload: done },
    until: () => hypervisor,
    define: (xml) => Promise.resolve(void defined.push(xml)),
    state: () => Promise.resolve({ state: states.shift() ?? 'shut off' }),
    createVolume: ({ pool: poolName, name }) => Promise.resolve(volume(poolName, name)),
  }
  return hypervisor
}
