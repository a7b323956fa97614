// A machine may be found more than once: by two addresses of one hypervisor, and as a copy that stayed on a host which did not answer
// when the machine was made elsewhere. What was made at the same time is the same machine, whatever the address: instance ids tell.

import { isRunning, type PresentMachine } from './present-machine.ts'

export interface Copies {
  readonly current: PresentMachine
  /** Of no use any more. Not those whose data somebody wanted to keep. */
  readonly leftovers: readonly PresentMachine[]
}

export interface Migrated {
  readonly on: PresentMachine
  readonly off: PresentMachine
}

export interface Belonging {
  /** Address of the hypervisor that it was on when all was well the last time. */
  readonly home: string | undefined
  /** Of the one that it is to be on. */
  readonly wanted: string | undefined
}

/** Each machine once; by the address that it is wanted at, where it is found by that one, too. What runs elsewhere is another one. */
export function instancesOf(found: readonly PresentMachine[], wanted: string | undefined): readonly PresentMachine[] {
  const [on, off] = [found.filter(isRunning), found.filter((present) => !isRunning(present))]
  return [...sightings(on), ...sightings(off)].map((seen) => seen.find(isAt(wanted)) ?? seen[0])
}

/** Of one machine: where it runs, and where it is off. On one host it cannot be both: it was migrated, and its definition stayed. */
export function findMigrated(found: readonly PresentMachine[]): Migrated | undefined {
  for (const seen of sightings(found)) {
    const [on, off] = [seen.find(isRunning), seen.find((present) => !isRunning(present))]
    if (on !== undefined && off !== undefined) return { on, off }
  }
  return undefined
}

/** `found`: all copies of one machine. */
export function sortCopies(found: readonly PresentMachine[], { home, wanted }: Belonging): Copies {
  const all = sightings(found)
  const whole = all.filter(([{ record }]) => record.isKept !== true)
  const candidates = whole.length > 0 ? whole : all
  // Of what the file says nobody knows whether it has come true: what was at home has the data.
  const chosen =
    candidates.find((seen) => seen.some(isAt(home))) ??
    candidates.find((seen) => seen.some(isAt(wanted))) ??
    candidates[0]
  const running = chosen.filter(isRunning)
  return {
    current: running.find(isAt(wanted)) ?? running.at(0) ?? chosen.find(isAt(wanted)) ?? chosen[0],
    leftovers: whole.filter((seen) => seen !== chosen).map(([present]) => present),
  }
}

function sightings(found: readonly PresentMachine[]): readonly (readonly PresentMachine[])[] {
  return [...Map.groupBy(found, ({ record: { machine, instanceId } }) => `${machine} ${instanceId}`).values()]
}

function isAt(uri: string | undefined): (present: PresentMachine) => boolean {
  return ({ hypervisor }) => hypervisor.uri === uri
}
