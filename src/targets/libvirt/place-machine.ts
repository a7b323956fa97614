// Machines in their places on one hypervisor. All that is in the way of any of them is found before anything is made, and told
// at once; what belongs to others is never touched.

import { randomUUID } from 'node:crypto'
import { HoldfastError } from '../../lib/errors.ts'
import type { Machine } from '../../machine/machine.ts'
import { baseOf, baseProblem, type Claim, claimKey, claimProblem, claimsOf } from './claims.ts'
import { domainName, uuidOf } from './identity.ts'
import type { MachineRecord } from './machine-record.ts'
import { placeDisks } from './place-disks.ts'
import type { PlaceFacts } from './place-facts.ts'
import { networkNotes, placeInterfaces, type Report } from './place-network.ts'
import type { Placement } from './placement.ts'
import { readAnyRecord, readRecord } from './record-xml.ts'

export interface PlacedMachines {
  /** By machine; those with a problem are not in it. */
  readonly placements: ReadonlyMap<string, Placement>
  readonly problems: readonly HoldfastError[]
  /** Worth a word, and in nobody's way. */
  readonly notes: readonly string[]
}

/** `newInstanceId`: for machines that are not there yet. */
export function placeMachines(
  machines: readonly Machine[],
  facts: PlaceFacts,
  newInstanceId: () => string = randomUUID,
): PlacedMachines {
  const placements = new Map<string, Placement>()
  const problems: HoldfastError[] = []
  const notes: string[] = []
  for (const machine of machines) {
    const placement = tryPlace(machine, facts, { newInstanceId }, (problem) => problems.push(problem))
    if (placement === undefined) continue
    placements.set(machine.name, placement)
    notes.push(...networkNotes(machine, placement.interfaces, facts))
  }
  problems.push(...collisionsBetween(placements))
  return { placements, problems, notes }
}

/** `instanceId`: that of the machine there is, else a new one, unless given. */
export function placeMachine(machine: Machine, facts: PlaceFacts, instanceId?: string): Placement {
  const problems: HoldfastError[] = []
  const ids = { instanceId, newInstanceId: randomUUID }
  const placement = tryPlace(machine, facts, ids, (problem) => problems.push(problem))
  throwProblems(problems)
  return placement as Placement
}

/** One as it is, several as one that names them all. */
export function throwProblems(problems: readonly HoldfastError[]): void {
  if (problems.length === 1) throw problems[0]
  if (problems.length === 0) return
  const lines = problems.map(({ message, hint }) => `  ${message}${hint === undefined ? '' : ` (${hint})`}`)
  throw new HoldfastError('MachinesUnplaceable', `Cannot place the machines:\n${lines.join('\n')}`)
}

function tryPlace(
  machine: Machine,
  facts: PlaceFacts,
  { instanceId, newInstanceId }: { readonly instanceId?: string | undefined; readonly newInstanceId: () => string },
  report: Report,
): Placement | undefined {
  const { stack, stackId, host, kind, domainTypes } = facts
  const present = presentRecord(machine, facts, report)
  if (present === 'foreign') return undefined
  const record = present ?? facts.orphans.get(machine.name)
  if (record?.stackId !== undefined && stackId !== undefined && record.stackId !== stackId) {
    const message = `Cannot make "${machine.name}": it belongs to a stack of that name that was made elsewhere; its secrets are on the host that made it`
    report(
      new HoldfastError('StackElsewhere', message, { hint: 'run Holdfast there, or give this stack another name' }),
    )
    return undefined
  }
  const interfaces = placeInterfaces(machine, facts, record?.hardware, report)
  const disks = placeDisks(machine, facts, record?.disks, report)
  const domainType = domainTypes.get(machine.name)
  if (disks === undefined || interfaces.length < machine.hardware.networks.length || interfaces.length === 0)
    return undefined
  if (domainType === undefined) throw new TypeError(`the facts are not about ${machine.name}`)
  const placement: Placement = {
    stack,
    ...(stackId !== undefined && { stackId }),
    domain: domainName(stack, machine.name),
    uuid: uuidOf(stack, machine.name),
    instanceId: instanceId ?? record?.instanceId ?? newInstanceId(),
    kind,
    domainType,
    arch: host.arch,
    interfaces,
    disks,
  }
  for (const claim of claimsOf(placement)) {
    const others = [...(facts.claimed.get(claimKey(claim)) ?? [])].filter((domain) => domain !== placement.domain)
    for (const other of others) report(claimProblem(machine.name, claim, `domain "${other}"`))
  }
  const base = baseOf(placement)
  for (const other of (base && facts.claimed.get(claimKey(base))) ?? [])
    report(baseProblem(machine.name, base as Claim, `domain "${other}"`))
  return placement
}

/** Of the domain that has the name or the UUID that is meant for the machine. */
function presentRecord(
  { name: machine }: Machine,
  { stack, domains, uri }: PlaceFacts,
  report: Report,
): MachineRecord | 'foreign' | undefined {
  const [name, uuid] = [domainName(stack, machine), uuidOf(stack, machine)]
  const present = domains.get(name) ?? domains.get(uuid)
  if (present === undefined) return undefined
  const record = present.name === name ? readRecord(present, stack) : undefined
  if (record?.machine === machine) return record
  const owner = readAnyRecord(present)
  const whose = owner === undefined ? 'not made by Holdfast' : `machine "${owner.machine}" of stack "${owner.stack}"`
  const what = present.name === name ? 'is there already' : `has its UUID ${uuid}`
  report(
    new HoldfastError(
      'DomainForeign',
      `Cannot make "${machine}": domain "${present.name}" on ${uri} ${what} and is ${whose}; it is left alone`,
      { hint: 'give the machine or the stack another name, or rename the domain (virsh domrename)' },
    ),
  )
  return 'foreign'
}

function collisionsBetween(placements: ReadonlyMap<string, Placement>): readonly HoldfastError[] {
  const owners = new Map<string, string>()
  const collisions = [...placements].flatMap(([machine, placement]) =>
    claimsOf(placement).flatMap((claim) => {
      const owner = owners.get(claimKey(claim))
      if (owner === undefined) owners.set(claimKey(claim), machine)
      if (owner === undefined) return []
      return [claimProblem(machine, claim, owner === machine ? 'the machine itself' : `machine "${owner}"`)]
    }),
  )
  const spoiled = [...placements].flatMap(([machine, placement]) => {
    const base = baseOf(placement)
    const owner = base && owners.get(claimKey(base))
    return owner === undefined ? [] : [baseProblem(machine, base as Claim, `machine "${owner}"`)]
  })
  return [...collisions, ...spoiled]
}
