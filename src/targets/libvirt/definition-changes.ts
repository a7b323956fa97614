// How the definition of a machine differs from what it should be: somebody may have changed it by virsh, or it was changed for a next start
// that has not come yet. What a machine is made of by the record is another question; each change is told once.

import { HoldfastError } from '../../lib/errors.ts'
import type { Machine } from '../../machine/machine.ts'
import type { HardwareChange } from '../target.ts'
import { compareHardwareRecords, hardwareOf } from './hardware-changes.ts'
import type { Domain, DomainFacts } from './hypervisor.ts'
import type { Placement } from './placement.ts'
import type { PresentMachine } from './present-machine.ts'

/** All that differs between a machine that is there and what it should be. */
export function hardwareChanges(
  machine: Machine,
  placement: Placement,
  { record, domain }: Pick<PresentMachine, 'record' | 'domain'>,
): readonly HardwareChange[] {
  const recorded = compareHardwareRecords(record.hardware, hardwareOf(machine, placement))
  // One that is made anew gets all of it.
  if (recorded.some(({ takes }) => takes === 'replace')) return recorded
  const gone: HardwareChange = {
    name: 'definition',
    from: 'none',
    to: 'libvirt keeps it',
    takes: 'live',
    why: 'it was undefined while it runs, and would be gone when it ends',
  }
  const waiting =
    domain.live === undefined
      ? []
      : startChanges(machine, domain.live, 'a machine gets it when it starts, and this one runs without it')
  const defined = definitionChanges(machine, placement, domain)
  // How it runs tells more than what was meant by what nobody has seen run.
  return [
    ...(domain.isPersistent ? [] : [gone]),
    ...new Map([...recorded, ...defined, ...waiting].map((change) => [change.name, change])).values(),
  ]
}

/** What defining it anew would change. */
export function definitionChanges(
  machine: Machine,
  placement: Placement,
  { definition }: Pick<Domain, 'definition'>,
): readonly HardwareChange[] {
  const { interfaces, disks } = placement
  const paths = [disks.root, disks.data, disks.seed, disks.program].flatMap((disk) => disk?.path ?? [])
  const why = 'its definition was changed by others, and a machine gets it when it starts'
  return [
    ...startChanges(machine, definition, why),
    ...change('domain type', definition.type, placement.domainType, why),
    ...change('MAC addresses', listed(definition.macs), listed(interfaces.map(({ mac }) => mac)), why),
    ...change('disks', listed(definition.disks), listed(paths), why),
  ]
}

/** Another disk may have what was written since, as with a snapshot: the old one in its place would undo it. */
export function refuseOtherDisks(name: string, { disks }: Placement, { definition }: Pick<Domain, 'definition'>): void {
  const gone = [disks.root, disks.data].find((disk) => disk !== undefined && !definition.disks.includes(disk.path))
  if (gone === undefined) return
  throw new HoldfastError(
    'DiskExchanged',
    `Cannot define "${name}" anew: its domain has ${listed(definition.disks) || 'no disks'}, and not "${gone.path}", which it was made with; it is left alone`,
    { hint: 'a snapshot has to be merged first (virsh blockcommit --active --pivot)' },
  )
}

function startChanges(
  { hardware }: Machine,
  { vcpus, memoryMib, maxMemoryMib = memoryMib }: DomainFacts,
  why: string,
): readonly HardwareChange[] {
  return [
    ...change('vcpus', String(vcpus), String(hardware.vcpus), why),
    ...change('memory', String(maxMemoryMib), String(hardware.memoryMib), why),
  ]
}

function change(name: string, from: string, to: string, why: string): readonly HardwareChange[] {
  return from === to ? [] : [{ name, from, to, takes: 'next start', why }]
}

function listed(values: readonly string[]): string {
  return values.toSorted().join(', ')
}
