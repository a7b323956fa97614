// What commands ask of the supervisor, written as what is desired from now on. Counters only rise, also above what is
// observed, so that a desired state that was lost and made again restarts nothing.

import { HoldfastError } from '../../lib/errors.ts'
import { loadManifest, type MadeService, type Manifest } from './files/manifest.ts'
import type { Layout } from './layout.ts'
import { loadState, stateFile } from './state-file.ts'
import { type DesiredMachine, type DesiredService, isDesiredMachine, saveDesired } from './supervisor/desired.ts'
import { loadObserved, type ObservedMachine } from './supervisor/observed.ts'

/** Undefined when nothing was ever wanted of it, or when that can no longer be read. */
export function findDesired({ desired }: Layout, machine: string): DesiredMachine | undefined {
  return unlessDamaged(() => loadState(stateFile(desired, machine), isDesiredMachine))
}

/** Undefined when it was never made, or when that can no longer be read. */
export function findManifest(layout: Layout, machine: string): Manifest | undefined {
  return unlessDamaged(() => loadManifest(layout, machine))
}

/** Undefined before the supervisor has seen it, or when what it wrote cannot be read. */
export function findObserved(layout: Layout, machine: string): ObservedMachine | undefined {
  return unlessDamaged(() => loadObserved(layout, machine))
}

export function wantRunning(layout: Layout, machine: string, services: readonly MadeService[]): DesiredMachine {
  const wanted = services.map((made) => withCounters(layout, machine, made))
  return save(layout, { machine, wanted: 'running', services: wanted })
}

/** Undefined when there is nothing that could run. */
export function wantStopped(layout: Layout, machine: string): DesiredMachine | undefined {
  const made = findDesired(layout, machine)?.services ?? findManifest(layout, machine)?.services
  const services = made?.map((each) => withCounters(layout, machine, each))
  return services === undefined ? undefined : save(layout, { machine, wanted: 'stopped', services })
}

export interface Again {
  readonly machine: string
  readonly service: string
  /** Start it anew, as it was written last, or tell it to read its files again. */
  readonly what: 'restart' | 'reload'
}

/** What is wanted of that service now. */
export function wantAgain(layout: Layout, { machine, service, what }: Again): DesiredService {
  const before = findDesired(layout, machine)
  if (before?.wanted !== 'running')
    throw new HoldfastError('MachineStopped', `Cannot ${what} "${service}": its machine "${machine}" does not run`)
  const old = before.services.find((each) => each.service.name === service)
  if (old === undefined)
    throw new HoldfastError('NoSuchService', `Cannot ${what} "${service}": "${machine}" has no such service`)
  const made = loadManifest(layout, machine)?.services.find((each) => each.service.name === service) ?? old
  const { restarts, reloads } = withCounters(layout, machine, old)
  const wanted =
    what === 'restart'
      ? { ...made, restarts: restarts + 1, reloads }
      : { service: old.service, digests: made.digests, restarts, reloads: reloads + 1 }
  save(layout, { ...before, services: before.services.map((each) => (each === old ? wanted : each)) })
  return wanted
}

function save(layout: Layout, desired: Omit<DesiredMachine, 'revision'>): DesiredMachine {
  const { machine } = desired
  const revisions = [findDesired(layout, machine)?.revision, findObserved(layout, machine)?.revision]
  const next = { ...desired, revision: Math.max(...revisions.map((each) => each ?? 0)) + 1 }
  saveDesired(layout, next)
  return next
}

function withCounters(layout: Layout, machine: string, { service, digests }: MadeService): DesiredService {
  const observed = findObserved(layout, machine)?.services.map(({ startedAs }) => startedAs) ?? []
  const known = [...(findDesired(layout, machine)?.services ?? []), ...observed]
  const counts = known.filter((each) => each.service.name === service.name)
  return {
    service,
    digests,
    restarts: Math.max(0, ...counts.map(({ restarts }) => restarts)),
    reloads: Math.max(0, ...counts.map(({ reloads }) => reloads)),
  }
}

function unlessDamaged<T>(load: () => T): T | undefined {
  try {
    return load()
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'LocalStateInvalid') return undefined
    throw error
  }
}
