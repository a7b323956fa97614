// The target `libvirt`: a machine is a domain, on one of the hypervisors of the stack. What there is to know of it is with libvirt: a
// record in the domain's metadata, and the cloud-init volume. What changes later goes in live, through the guest.

import type { Accelerator } from '../../machine/hardware.ts'
import type { Machine, MachineKind } from '../../machine/machine.ts'
import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type {
  ExistingMachine,
  HardwareChange,
  LogLine,
  LogOptions,
  MachineState,
  ObserveHow,
  Overseer,
  ReadHow,
  Target,
  Unread,
} from '../target.ts'
import { hasFilledDisk, hasFilledVolume } from './filled-disk.ts'
import { Fleet, type FleetOptions } from './fleet.ts'
import { readGuestLogs } from './guest-logs.ts'
import { hardwareChanges } from './definition-changes.ts'
import { passwordChange } from './hardware-changes.ts'
import type { WrittenMachine } from './cloud-init/seed-record.ts'
import type { Hypervisor } from './hypervisor.ts'
import { inTurns } from './in-turns.ts'
import { MachineGuests } from './machine-guests.ts'
import { Memory } from './memory.ts'
import { findAbandoned, findOrphan } from './orphan.ts'
import { type DomainType, isVolumeGone, type PlaceFacts } from './place-facts.ts'
import { placeMachine } from './place-machine.ts'
import type { PlacedDisk } from './placement.ts'
import {
  existingMachine,
  isNamed,
  isRunning,
  type PresentMachine,
  waitingToGoOn,
  writtenMachine,
} from './present-machine.ts'
import { ensureProgram, removeProgram } from './program-volume.ts'
import { recordElement } from './record-xml.ts'
import { deleteMachine, deleteVolumes, forgetApplied, holdsData, keepMachine, stopMachine } from './remove-machine.ts'
import { startMachine } from './start-machine.ts'
import { factsFor, writeMachine } from './write-machine.ts'
import { setupChange, withoutPending } from './written-machine.ts'

export interface LibvirtTargetOptions extends Omit<FleetOptions, 'onUnread'> {
  /** Tells it from another stack of the same name that was made elsewhere. */
  readonly stackId?: string
  /** `isTried`: for a machine that is made now, so that it is worth to try what works; else what is to be expected will do. */
  readonly chooseType: (hypervisor: Hypervisor, wanted: Accelerator, isTried: boolean) => Promise<DomainType>
  /** What a machine, or the stack as a whole, is at. `isWarning`: it goes on in spite of it. */
  readonly onPhase: (machine: string | undefined, phase: string, isWarning: boolean) => void
  /** For files that are gone when we are done. */
  readonly temporary: string
  /** For a machine to boot the first time, packages included. */
  readonly bootTimeoutMs?: number
}

/** Beside what services take by themselves to stop. */
const STOP_PATIENCE_MS = 60_000
/** Whoever waits asks several times a second, and a connection may break while he does. */
const MEMORY = { forMs: 1000, patienceMs: 60_000 } as const

export class LibvirtTarget implements Target {
  readonly #options: LibvirtTargetOptions
  readonly #fleet: Fleet
  readonly #guests: MachineGuests
  readonly #written = new Map<string, Promise<WrittenMachine | undefined>>()
  readonly #programs = new Map<string, Promise<void>>()
  /** Directories with programs that containers will not need much longer. */
  readonly #released: { readonly hypervisor: Hypervisor; readonly disk: PlacedDisk }[] = []
  readonly #states = new Memory<MachineState>(MEMORY)

  constructor(options: LibvirtTargetOptions) {
    this.#options = options
    const onUnread = ({ where, error }: Unread) =>
      options.onPhase(undefined, `going on without ${where}: ${error.message}`, true)
    this.#fleet = new Fleet({ ...options, onUnread })
    this.#guests = new MachineGuests({ ...options, onPhase: (machine, phase) => this.#tell(machine, phase) })
  }

  async read(how?: ReadHow): Promise<ReadonlyMap<string, ExistingMachine>> {
    const machines = (await this.#fleet.changeableMachines(how)).filter(({ record }) => record.isKept !== true)
    const read = await inTurns(machines, async (present) => existingMachine(present, await this.#writtenOf(present)))
    return new Map(read.map((existing) => [existing.name, existing]))
  }

  /** Those of which only data were kept, and those whose domains somebody removed, too. */
  async machines(): Promise<ReadonlyMap<string, MachineKind>> {
    const present = await this.#fleet.machines({ isTolerant: true })
    const there = new Map(present.map(({ record }) => [record.machine, record.kind]))
    const missing = [...(this.#options.homes?.keys() ?? [])].filter((name) => !there.has(name))
    const abandoned = await inTurns(missing, (name) => this.#abandoned(name))
    return new Map([...there, ...abandoned.flat().map(({ record }) => [record.machine, record.kind] as const)])
  }

  unread(): readonly Unread[] {
    return this.#fleet.unread()
  }

  async compareHardware(machines: readonly Machine[]): Promise<ReadonlyMap<string, readonly HardwareChange[]>> {
    const present = new Map((await this.#fleet.machines()).map((each) => [each.record.machine, each]))
    const compared = this.#options.hypervisors.map(async (hypervisor) => {
      const here = machines.filter(({ hardware }) => hardware.hypervisor === hypervisor.uri)
      const facts = here.length === 0 ? undefined : await factsFor(here, this.#placing(hypervisor, false))
      return inTurns(here, async (machine) => {
        const there = present.get(machine.name)
        if (there === undefined || facts === undefined) return [machine.name, []] as const
        const placement = placeMachine(machine, facts)
        const changes = [...hardwareChanges(machine, placement, there), ...lostRoot(there, facts)]
        const written = await this.#writtenOf(there)
        // One that is made anew gets all of it.
        const isMadeAnew = changes.some(({ takes }) => takes === 'replace')
        const inside = isMadeAnew
          ? []
          : [...passwordChange(machine, written), ...setupChange(machine, placement, written)]
        const more = [...this.#leftoverChanges(machine, there), ...inside, ...waitingToGoOn(there)]
        return [machine.name, [...changes, ...autostartChange(machine, there, changes), ...more]] as const
      })
    })
    return new Map((await Promise.all(compared)).flat())
  }

  async write(machine: Machine): Promise<void> {
    const hypervisor = this.#hypervisorOf(machine)
    await this.#removeLeftovers(machine)
    const present = await this.#fleet.findOn(hypervisor, machine.name)
    await writeMachine(machine, {
      ...this.#placing(hypervisor, true),
      ...{ present, onPhase: this.#options.onPhase },
      ensureProgram: (disk) => this.#ensureProgram(hypervisor, disk),
      releaseProgram: (disk) => this.#releaseProgram(hypervisor, disk),
      guest: async () => {
        if (present === undefined) throw new TypeError(`${machine.name} does not run`)
        const guest = this.#guests.of(present)
        if (present.record.appliedDigest === undefined) await this.#guests.untilBooted(present, guest)
        return guest
      },
    })
  }

  async start(machine: Machine): Promise<void> {
    const present = await this.#get(machine.name)
    const guest = this.#guests.of(present)
    await startMachine(machine, {
      ...{ present, guest, signal: this.#options.signal },
      place: async () => placeMachine(machine, await factsFor([machine], this.#placing(present.hypervisor, false))),
      untilBooted: () => this.#guests.untilBooted(present, guest),
      onPhase: (phase) => this.#tell(machine.name, phase),
    })
    this.#forget(machine.name)
  }

  async reload(machine: string, service: string): Promise<void> {
    const present = await this.#get(machine)
    await this.#guests.of(present).reload(service)
    if (present.record.pending?.[service] === 'reload') await this.#hasRead(present, service)
    this.#forget(machine)
  }

  async restart(machine: string, service: string): Promise<void> {
    const present = await this.#get(machine)
    const started = present.record.started?.find(({ name }) => name === service)
    if (started === undefined) throw notThere(`"${service}" of "${machine}"`)
    await this.#guests.of(present).restart(started)
    await this.#hasRead(present, service)
    this.#forget(machine)
  }

  async stop(machine: string): Promise<void> {
    for (const present of await this.#fleet.everywhere(machine)) {
      const { hypervisor, domain } = present
      // It would be back with its host; to be started again, it is written first.
      if (domain.isAutostarted) await hypervisor.autostart(domain.name, false)
      await this.#switchOff(present)
    }
  }

  async remove(machine: string, { keepData }: { readonly keepData: boolean }): Promise<void> {
    // Where it was moved from, too.
    const copies = await this.#fleet.everywhere(machine)
    for (const present of copies) await this.#removeOne(present, keepData)
    if (copies.length === 0 && !keepData) for (const left of await this.#abandoned(machine)) await deleteVolumes(left)
    this.#forget(machine)
  }

  /** Where in it the path is makes no difference: a machine has one disk with data on it. */
  async isFilled(machine: string): Promise<boolean> {
    const present = (await this.#fleet.machines()).find(isNamed(machine))
    if (present !== undefined) return hasFilledDisk(present)
    const hardware = this.#options.hardware.get(machine)
    const hypervisor = this.#options.hypervisors.find(({ uri }) => uri === hardware?.hypervisor)
    if (hardware === undefined || hypervisor === undefined) return false
    const pools = await hypervisor.pools()
    const orphan = await findOrphan(hypervisor, { name: machine, hardware }, this.#options.stack, {
      pools,
      ...this.#options,
    })
    if (orphan !== undefined) return hasFilledDisk({ hypervisor, record: { ...orphan, hasBooted: true } })
    return hasFilledVolume(hypervisor, hardware)
  }

  async observe({ names, isTolerant = false }: ObserveHow = {}): Promise<ReadonlyMap<string, MachineState>> {
    const all = await this.#fleet.recentMachines({ isTolerant })
    const there = all.filter(
      ({ record: { machine, isKept, started } }) =>
        isKept !== true && started !== undefined && (names?.includes(machine) ?? true),
    )
    const states = await inTurns(there, (present) =>
      this.#states.recall(present.record.machine, () => this.#guests.stateOf(present)),
    )
    return new Map(there.map(({ record }, index) => [record.machine, states[index]]))
  }

  async *logs(machines: readonly string[], options: LogOptions): AsyncGenerator<LogLine> {
    const all = await this.#fleet.machines({ isTolerant: true })
    const running = all.filter((present) => isRunning(present) && machines.includes(present.record.machine))
    const guests = running.map((present) => this.#guests.withLogs(present))
    yield* readGuestLogs(guests, options, (machine, error) => this.#tell(machine, messageOf(error), true))
  }

  async settle(): Promise<void> {
    for (const { hypervisor, disk } of this.#released.splice(0))
      await removeProgram(hypervisor, disk, await hypervisor.domains())
  }

  shutdown(): Promise<void> {
    return Promise.resolve()
  }

  /** In each machine, systemd. */
  overseer(): Overseer {
    return { isThere: true, pid: undefined }
  }

  async #get(machine: string): Promise<PresentMachine> {
    const present = await this.#fleet.find(machine)
    if (present === undefined) throw notThere(`"${machine}"`)
    return present
  }

  /** Machines that are made at the same time share it: one of them puts it there. */
  #ensureProgram(hypervisor: Hypervisor, disk: PlacedDisk): Promise<void> {
    const key = `${hypervisor.uri} ${disk.path}`
    const { temporary, signal } = this.#options
    const making =
      this.#programs.get(key) ??
      ensureProgram({ hypervisor, disk, temporary, signal }).finally(() => this.#programs.delete(key))
    this.#programs.set(key, making)
    return making
  }

  /** Volumes of one whose domain somebody removed: disks that are ours, and secrets. */
  async #abandoned(machine: string): Promise<readonly Pick<PresentMachine, 'hypervisor' | 'record'>[]> {
    const { stack, stackId, takesForeign, homes } = this.#options
    const hypervisor = this.#options.hypervisors.find(({ uri }) => uri === homes?.get(machine))
    const isSilent = this.#fleet.unread().some(({ where }) => where === hypervisor?.uri)
    if (hypervisor === undefined || isSilent) return []
    const record = await findAbandoned(hypervisor, { stack, machine }, this.#options)
    if (record === undefined || (record.stackId !== stackId && takesForeign !== true)) return []
    return [{ hypervisor, record }]
  }

  /** A container has the directory mounted with which it was started, and copies from it when its services start anew. */
  async #releaseProgram(hypervisor: Hypervisor, disk: PlacedDisk): Promise<void> {
    if (disk.format === 'dir') this.#released.push({ hypervisor, disk })
    else await removeProgram(hypervisor, disk, await hypervisor.domains())
  }

  /** One that is gone meanwhile is as wanted. */
  async #removeOne(present: PresentMachine, keepData: boolean): Promise<void> {
    const { hypervisor, domain } = present
    const isKept = keepData && holdsData(present)
    try {
      // From here on nobody knows which of its units it still has: its next start writes them all.
      if (isKept) await forgetApplied(present)
      const hasServices = !isKept || !(await this.#guests.removeServices(present))
      await this.#switchOff(present)
      if (isKept) await keepMachine(present, { hasServices })
      else await deleteMachine(present)
    } catch (error) {
      const isMissing = error instanceof HoldfastError && error.code === 'DomainMissing'
      if (!isMissing || (await hypervisor.state(domain.name)) !== undefined) throw error
    }
  }

  /** Of a machine that is where it is to be. One that is to be made anew leaves everything else it has on the way. */
  #leftoverChanges({ name, hardware }: Machine, { hypervisor }: PresentMachine): readonly HardwareChange[] {
    if (hypervisor.uri !== hardware.hypervisor) return []
    const why = 'it stayed there when the machine was made elsewhere; only that copy is removed'
    return this.#fleet
      .leftovers(name)
      .map((left) => ({ name: 'leftover', from: left.hypervisor.uri, to: 'none', takes: 'live', why }))
  }

  async #removeLeftovers({ name, hardware }: Machine): Promise<void> {
    for (const { hypervisor, record } of this.#fleet.leftovers(name)) {
      if (hypervisor.uri === hardware.hypervisor) continue
      // It may have been started since it was seen.
      const left = await this.#fleet.findOn(hypervisor, name)
      if (left?.record.instanceId !== record.instanceId) continue
      this.#tell(name, `removing what is left of it on ${hypervisor.uri}`)
      await this.#removeOne(left, false)
    }
  }

  #hypervisorOf({ name, hardware }: Machine): Hypervisor {
    const hypervisor = this.#options.hypervisors.find(({ uri }) => uri === hardware.hypervisor)
    if (hypervisor === undefined) throw new TypeError(`${name} is on a hypervisor that the target was not given`)
    return hypervisor
  }

  #placing(hypervisor: Hypervisor, isTried: boolean) {
    const { stack, stackId, temporary, signal, chooseType } = this.#options
    return {
      ...{ hypervisor, stack, temporary, signal, ...(stackId !== undefined && { stackId }) },
      chooseType: (where: Hypervisor, wanted: Accelerator) => chooseType(where, wanted, isTried),
    }
  }

  /** Read once while it stays the same. */
  #writtenOf(present: PresentMachine): Promise<WrittenMachine | undefined> {
    const { seedDigest } = present.record
    const known = this.#written.get(seedDigest)
    if (known !== undefined) return known
    const reading = writtenMachine(present, this.#options)
    this.#written.set(seedDigest, reading)
    reading.catch(() => this.#written.delete(seedDigest))
    return reading
  }

  async #hasRead({ hypervisor, domain, record }: PresentMachine, service: string): Promise<void> {
    if (record.pending?.[service] === undefined) return
    const pending = withoutPending(record.pending, [service])
    await hypervisor.setMetadata(domain.name, recordElement({ ...record, pending }))
  }

  async #switchOff(present: PresentMachine): Promise<void> {
    if (!isRunning(present)) return
    const { machine, started = [] } = present.record
    await stopMachine(present, {
      timeoutMs: STOP_PATIENCE_MS + started.reduce((sum, { stopTimeoutMs }) => sum + stopTimeoutMs, 0),
      onKill: () => this.#tell(machine, 'it does not end by itself, and is switched off', true),
      signal: this.#options.signal,
    })
    this.#forget(machine)
  }

  #forget(machine: string): void {
    this.#states.forget(machine)
    this.#fleet.forgetRecent()
  }

  #tell(machine: string, phase: string, isWarning = false): void {
    this.#options.onPhase(machine, phase, isWarning)
  }
}

/** It is made anew when the machine is started, with nothing on it. */
function lostRoot({ record: { disks, appliedDigest } }: PresentMachine, facts: PlaceFacts): readonly HardwareChange[] {
  if (appliedDigest === undefined || !disks.root.isOurs || !isVolumeGone(facts, disks.root)) return []
  const why = 'it is gone, with all that was on it: the machine begins anew'
  return [{ name: 'root volume', from: 'none', to: disks.root.path, takes: 'live', why, losesData: true }]
}

/** `known`: what the record says differs. Somebody else may have changed it, and who takes a stack down does. */
function autostartChange(
  { hardware: { autostart } }: Machine,
  { domain: { isAutostarted } }: PresentMachine,
  known: readonly HardwareChange[],
): readonly HardwareChange[] {
  if (isAutostarted === autostart || known.some(({ name, takes }) => name === 'autostart' || takes === 'replace'))
    return []
  const why = 'only its hypervisor has to know'
  return [{ name: 'autostart', from: String(isAutostarted), to: String(autostart), takes: 'live', why }]
}

function notThere(what: string): HoldfastError {
  return new HoldfastError('MachineMissing', `Cannot find ${what}: it is not there any more`, {
    hint: '"holdfast up" makes it again',
  })
}
