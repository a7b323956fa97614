import { expect, test } from 'vitest'
import { domain } from '../../../test/support/hypervisor-data.ts'
import { machine as machineOf } from '../../../test/support/local-stack.ts'
import { HARDWARE } from '../../../test/support/machine-spec.ts'
import { hardwareChanges, refuseOtherDisks } from './definition-changes.ts'
import type { DomainFacts } from './hypervisor.ts'
import type { Placement } from './placement.ts'
import { recordOf } from './written-machine.ts'

const hardware = { ...HARDWARE, vcpus: 2, memoryMib: 2048 }
const machine = machineOf('m', [], { hardware })
const placement: Placement = {
  ...{ stack: 's', domain: 's-m', uuid: '', instanceId: 'i', kind: 'qemu', domainType: 'kvm', arch: 'x86_64' },
  interfaces: [
    {
      ...{ attach: { network: 'lan' }, mac: '52:54:00:00:00:01', ip: '10.0.0.1', prefixLength: 24 },
      ...{ gateway: undefined, dnsServers: [] },
    },
  ],
  disks: {
    root: { path: '/root', format: 'qcow2', isOurs: false },
    seed: { path: '/seed', format: 'raw', isOurs: true },
    ...{ data: undefined, program: undefined },
  },
}
const asWanted: DomainFacts = {
  ...{ type: 'kvm', vcpus: 2, memoryMib: 1024, maxMemoryMib: 2048 },
  ...{ macs: ['52:54:00:00:00:01'], disks: ['/seed', '/root'] },
}

function changes(definition: Partial<DomainFacts>, live?: Partial<DomainFacts>, recorded = machine) {
  const facts = { definition: { ...asWanted, ...definition }, live: live && { ...asWanted, ...live } }
  const present = { record: recordOf(recorded, placement), domain: domain('s-m', facts) }
  return hardwareChanges(machine, placement, present).map(({ name, from, to, takes }) => [name, from, to, takes])
}

test('a definition that is as it should be is no change, also with less memory for a while', () => {
  expect(changes({}, {})).toEqual([])
})

test('what others have changed in a definition is told, and mended at the next start', () => {
  expect(changes({ vcpus: 8 }, {})).toEqual([['vcpus', '8', '2', 'next start']])
  expect(changes({ type: 'qemu', maxMemoryMib: 512, macs: [], disks: ['/root'] })).toEqual([
    ['memory', '512', '2048', 'next start'],
    ['domain type', 'qemu', 'kvm', 'next start'],
    ['MAC addresses', '', '52:54:00:00:00:01', 'next start'],
    ['disks', '/root', '/root, /seed', 'next start'],
  ])
})

test('what was changed twice without a start is told once, from what runs', () => {
  const recorded = { ...machine, hardware: { ...hardware, vcpus: 4 } }
  expect(changes({ vcpus: 4 }, { vcpus: 1 }, recorded)).toEqual([['vcpus', '1', '2', 'next start']])
  expect(changes({}, { vcpus: 1 })).toEqual([['vcpus', '1', '2', 'next start']])
})

test('a domain with another root disk is not defined anew', () => {
  const { definition } = domain('s-m', { definition: { ...asWanted, disks: ['/root.snapshot', '/seed'] } })
  expect(() => refuseOtherDisks('m', placement, { definition })).toThrow(
    expect.objectContaining({ code: 'DiskExchanged', message: expect.stringContaining('/root.snapshot') as unknown }),
  )
})
