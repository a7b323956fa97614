// Starts a machine and what should run in it. What was written while it was switched off is brought into it right after it has
// booted: files first, then the services that have read the old ones.

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../../lib/errors.ts'
import type { Machine, Service } from '../../machine/machine.ts'
import { isStartedAlike } from '../../machine/started-alike.ts'
import type { Applied, UnitState } from './cloud-init/apply-program.ts'
import { unitName } from '../../machine/unit-name.ts'
import type { GuestMachine } from './guest-machine.ts'
import type { MachineRecord } from './machine-record.ts'
import type { Placement } from './placement.ts'
import { isRunning, type PresentMachine } from './present-machine.ts'
import { recordElement } from './record-xml.ts'
import { describeFailure } from '../service-failure.ts'
import { areStarted, machineState, unitFailure } from './service-states.ts'
import { applyRequest, withoutPending } from './written-machine.ts'

export interface StartOptions {
  readonly present: PresentMachine
  readonly guest: GuestMachine
  readonly place: () => Promise<Placement>
  /** Resolves when cloud-init has done its work. */
  readonly untilBooted: () => Promise<void>
  readonly onPhase: (phase: string) => void
  readonly signal: AbortSignal
}

const PAUSE_MS = 200
/** For systemd to have tried everything. */
const PATIENCE_MS = 60_000
const NOTHING: Applied = { changed: [], units: [] }

export async function startMachine(machine: Machine, options: StartOptions): Promise<void> {
  const { present, guest, untilBooted, onPhase } = options
  const { hypervisor, domain } = present
  const wasOff = !isRunning(present)
  const booting: MachineRecord = { ...present.record, hasBooted: true, ...(wasOff && { pending: {} }) }
  const save = (record: MachineRecord) => hypervisor.setMetadata(domain.name, recordElement(record))
  if (wasOff) {
    await save(booting)
    try {
      await hypervisor.start(domain.name)
    } catch (error) {
      // Only its answer may have been lost. One that is off has not begun to boot.
      if ((await hypervisor.state(domain.name))?.state === 'shut off') await save(present.record)
      throw error
    }
  }
  const { appliedDigest, seedDigest } = booting
  if (wasOff || appliedDigest !== seedDigest) await untilBooted()
  // The first time, cloud-init has written everything itself. From now on there may be data: it must not begin anew.
  if (appliedDigest === undefined) await save({ ...booting, appliedDigest: seedDigest })
  const isBehind = appliedDigest !== undefined && appliedDigest !== seedDigest
  const applied = isBehind
    ? await guest.apply(applyRequest(machine, await options.place(), undefined, booting))
    : NOTHING
  onPhase('services')
  const restarted = await startServices(machine, booting, applied, guest)
  await untilTried(machine, options)
  const started: MachineRecord = {
    ...booting,
    ...{ appliedDigest: seedDigest, leftovers: [] },
    ...{ started: machine.services, pending: withoutPending(booting.pending, restarted) },
  }
  if (JSON.stringify(started) !== JSON.stringify(present.record)) await save(started)
}

/** The names of those that were started anew. */
async function startServices(
  machine: Machine,
  { started = [], pending = {}, appliedDigest }: MachineRecord,
  applied: Applied,
  guest: GuestMachine,
): Promise<string[]> {
  const named = (services: readonly Service[], name: string) => services.find((service) => service.name === name)
  const gone = started.filter(({ name }) => named(machine.services, name) === undefined)
  if (gone.length > 0) await guest.removeUnits(gone)
  const added = machine.services.filter(({ name }) => named(started, name) === undefined)
  // The first time, cloud-init has done that, too.
  if (added.length > 0 && appliedDigest !== undefined) await guest.enable(added)
  const restarted = machine.services.filter((service) => {
    const before = named(started, service.name)
    if (before === undefined) return false
    const isLateStep = service.once === true && pending[service.name] === 'restart'
    return isLateStep || !isStartedAlike(before, service) || hasReadOthers(service, machine, applied)
  })
  for (const service of restarted) await guest.restart(service)
  await guest.start(machine.services)
  return restarted.map(({ name }) => name)
}

/** It was started with what has changed since. */
function hasReadOthers({ name }: Service, { files }: Machine, { changed, units }: Applied): boolean {
  if (units.includes(unitName(name))) return true
  return files.some(
    ({ path, onChange }) =>
      changed.includes(path) && onChange !== 'nothing' && Object.values(onChange).some((reader) => reader === name),
  )
}

/** What services wait for may be what failed: the disk with their data above all. */
function failuresBeside(services: readonly Service[], units: readonly UnitState[]): string {
  const own = services.map((service) => unitName(service.name))
  const others = units.filter(({ name }) => !own.includes(name))
  return others
    .flatMap(({ name, end }) =>
      end === null || end === undefined ? [] : `; ${name} failed: ${describeFailure(unitFailure(end))}`,
    )
    .join('')
}

async function untilTried({ name, services }: Machine, { guest, signal }: StartOptions): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const units = await guest.units()
    const state = machineState(services, units)
    if (areStarted(services, state)) return
    if (performance.now() > deadline) {
      const waiting = services.filter((service) => state.services.get(service.name)?.state === 'stopped')
      const names = waiting.map((service) => `"${service.name}"`).join(', ')
      throw new HoldfastError(
        'GuestFailed',
        `Cannot start "${name}": ${names} not started after ${PATIENCE_MS / 1000} s${failuresBeside(services, units)}`,
        { retryable: true },
      )
    }
    await sleep(PAUSE_MS, undefined, { signal })
  }
}
