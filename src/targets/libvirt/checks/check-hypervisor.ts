// Whether a hypervisor can run the machines that are meant for it: all checks, asked before anything is made there.

import { HoldfastError } from '../../../lib/errors.ts'
import type { Machine } from '../../../machine/machine.ts'
import { type Finding, ok, problem, warning } from '../../finding.ts'
import type { Hypervisor } from '../hypervisor.ts'
import { type PlaceFacts, type PlaceQuestion, readPlaceFacts } from '../place-facts.ts'
import { type PlacedMachines, placeMachines } from '../place-machine.ts'
import { checkApparmor } from './apparmor.ts'
import { checkPoolSpace } from './pool-space.ts'
import { checkHostMemory, checkProcessors } from './host-size.ts'
import { checkMacvtap, checkOutgoing } from './reach.ts'

export async function checkHypervisor(
  hypervisor: Hypervisor,
  machines: readonly Machine[],
  question: PlaceQuestion,
): Promise<readonly Finding[]> {
  try {
    const facts = await readPlaceFacts(hypervisor, machines, question)
    return hypervisorFindings(machines, facts, placeMachines(machines, facts))
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown
    return [problem('hypervisor', thrown.message, thrown.hint)]
  }
}

export function hypervisorFindings(
  machines: readonly Machine[],
  facts: PlaceFacts,
  { placements, problems, notes }: PlacedMachines,
): readonly Finding[] {
  const { host, uri } = facts
  const placed = machines.flatMap((machine) => {
    const placement = placements.get(machine.name)
    return placement === undefined ? [] : [{ machine, placement }]
  })
  return [
    ok('hypervisor', `${uri}: ${host.name} (${host.arch}, ${host.cpus} processors, ${host.memoryMib} MiB)`),
    ...problems.map(({ code, message, hint }) => problem(CHECKS[code] ?? 'machines', message, hint)),
    ...notes.map((note) => warning('networks', note)),
    ...checkHostMemory(machines, facts),
    ...checkProcessors(machines, facts),
    ...checkPoolSpace(placed, facts),
    ...checkApparmor(placed, facts),
    ...checkMacvtap(placed, facts),
    ...checkOutgoing(placed),
  ]
}

/** What was looked at when such a problem was found. */
const CHECKS: Readonly<Record<string, string>> = {
  NetworkMissing: 'networks',
  NetworkInactive: 'networks',
  InterfaceMissing: 'networks',
  AddressMissing: 'networks',
  AddressOutsideNetwork: 'networks',
  AddressTaken: 'networks',
  PrefixMissing: 'networks',
  MacTaken: 'networks',
  PoolMissing: 'volumes',
  PoolInactive: 'volumes',
  VolumeMissing: 'volumes',
  VolumeForeign: 'volumes',
  VolumeInUse: 'volumes',
  VolumeTooSmall: 'volumes',
}
