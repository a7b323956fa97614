// Machines of a stack as libvirt has them: a domain whose metadata say that it is one, and its cloud-init volume.

import type { ExistingMachine, HardwareChange } from '../target.ts'
import { readSeedJson, SEED_RECORD } from './cloud-init/seed-record.ts'
import type { Domain, Hypervisor } from './hypervisor.ts'
import type { MachineRecord } from './machine-record.ts'
import { readRecord } from './record-xml.ts'
import { readSeed } from './seed-volume.ts'

export interface PresentMachine {
  readonly hypervisor: Hypervisor
  readonly domain: Domain
  readonly record: MachineRecord
}

export interface SeedReading {
  /** For files that are gone when we are done. */
  readonly temporary: string
  readonly signal: AbortSignal
}

export async function presentMachines(hypervisor: Hypervisor, stack: string): Promise<PresentMachine[]> {
  const domains = await hypervisor.domains()
  return domains.flatMap((domain) => {
    const record = readRecord(domain, stack)
    return record === undefined ? [] : [{ hypervisor, domain, record }]
  })
}

export function isRunning({ domain }: PresentMachine): boolean {
  return domain.state !== 'shut off' && domain.state !== 'crashed'
}

/** Undefined when its volume is not there, or not the one that was written last: who knows what is on it. */
export async function writtenMachine(
  { hypervisor, record }: Pick<PresentMachine, 'hypervisor' | 'record'>,
  { temporary, signal }: SeedReading,
): Promise<ExistingMachine | undefined> {
  if (record.seedDigest === '') return undefined
  const seed = await readSeed({ hypervisor, disk: record.disks.seed, temporary, signal })
  if (seed?.digest !== record.seedDigest) return undefined
  return readSeedJson(seed.files.get(SEED_RECORD) ?? '')
}

/** `written`: what is on its cloud-init volume. */
export function existingMachine(present: PresentMachine, written: ExistingMachine | undefined): ExistingMachine {
  const { machine: name, kind, address, started: services = [] } = present.record
  return {
    ...{ name, kind, address, services },
    files: written?.files ?? new Map(),
    directories: written?.directories ?? new Map(),
    pending: pendingOf(present),
  }
}

function pendingOf(present: PresentMachine): Map<string, 'reload' | 'restart'> {
  const { pending = {}, started = [], appliedDigest, seedDigest } = present.record
  // It was started by somebody else, with what it had before.
  if (isRunning(present) && appliedDigest !== seedDigest) return new Map(started.map(({ name }) => [name, 'restart']))
  return new Map(Object.entries(pending))
}

/** What was changed for its next start, which has not come yet. */
export function waitingForStart({ domain: { definition, live } }: PresentMachine): HardwareChange[] {
  if (live === undefined) return []
  const change = (name: string, from: number, to: number): HardwareChange[] =>
    from === to
      ? []
      : [{ name, from: String(from), to: String(to), takes: 'next start', why: 'it has not been started since' }]
  return [...change('vcpus', live.vcpus, definition.vcpus), ...change('memory', live.memoryMib, definition.memoryMib)]
}
