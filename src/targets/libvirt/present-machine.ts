// Machines of a stack as libvirt has them: a domain whose metadata say that it is one, and its cloud-init volume.

import { HoldfastError } from '../../lib/errors.ts'
import type { ExistingMachine, HardwareChange } from '../target.ts'
import { isOn, pausedError } from './domain-state.ts'
import { readSeedJson, SEED_RECORD, type WrittenMachine } from './cloud-init/seed-record.ts'
import type { Domain, Hypervisor } from './hypervisor.ts'
import { domainName, uuidOf } from './identity.ts'
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

/** What one hypervisor has of a stack. */
export interface Presence {
  readonly machines: readonly PresentMachine[]
  /** Domains that seem to be of the stack, with a record that nobody can read. */
  readonly damaged: readonly { readonly domain: Domain; readonly error: HoldfastError }[]
}

export async function readPresence(hypervisor: Hypervisor, stack: string): Promise<Presence> {
  const machines: PresentMachine[] = []
  const damaged: { domain: Domain; error: HoldfastError }[] = []
  for (const domain of await hypervisor.domains()) {
    try {
      const record = readRecord(domain, stack)
      if (record !== undefined && isItself(domain, record)) machines.push({ hypervisor, domain, record })
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      if (!isOfAnother(domain, stack)) damaged.push({ domain, error })
    }
  }
  return { machines, damaged }
}

/** A copy that somebody made of a machine has its metadata, and is none of ours. */
function isItself({ name, uuid }: Domain, { stack, machine }: MachineRecord): boolean {
  return name === domainName(stack, machine) || uuid === uuidOf(stack, machine)
}

/** As far as it can be told: the name of one stack may begin with that of another. */
function isOfAnother({ metadata = '' }: Domain, stack: string): boolean {
  const named = /"stack":"([^"]*)"/u.exec(metadata)?.[1]
  return named !== undefined && named !== stack
}

export function isNamed(machine: string): (present: PresentMachine) => boolean {
  return ({ record }) => record.machine === machine
}

export function isRunning({ domain }: PresentMachine): boolean {
  return isOn(domain)
}

/** Undefined when its volume is not there, or not the one that was written last: who knows what is on it. */
export async function writtenMachine(
  { hypervisor, record }: Pick<PresentMachine, 'hypervisor' | 'record'>,
  { temporary, signal }: SeedReading,
): Promise<WrittenMachine | undefined> {
  if (record.seedDigest === '') return undefined
  const seed = await readSeed({ hypervisor, disk: record.disks.seed, temporary, signal })
  if (seed?.digest !== record.seedDigest) return undefined
  return readSeedJson(seed.files.get(SEED_RECORD) ?? '')
}

/** `written`: what is on its cloud-init volume. */
export function existingMachine(present: PresentMachine, written: ExistingMachine | undefined): ExistingMachine {
  const { machine: name, kind, address, disks, started: services = [], appliedDigest } = present.record
  return {
    ...{ name, kind, address, services, hasDataDisk: disks.data !== undefined, isUnborn: appliedDigest === undefined },
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

/** One that is paused does nothing until somebody lets it go on. */
export function waitingToGoOn({ hypervisor, domain, record }: PresentMachine): HardwareChange[] {
  if (domain.state !== 'paused') return []
  const { state, reason } = domain
  const from = reason === undefined ? state : `${state} (${reason})`
  const why = pausedError(record.machine, hypervisor.uri, domain).hint ?? ''
  return [{ name: 'state', from, to: 'running', takes: 'live', why }]
}
