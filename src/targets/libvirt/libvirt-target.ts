// The target `libvirt`: a machine is a domain, on one of the hypervisors of the stack. What there is to know of it is with libvirt: a
// record in the domain's metadata, and the cloud-init volume. What changes later goes in live, through the guest.

import type { Accelerator, Hardware } from '../../machine/hardware.ts'
import type { Machine, MachineKind, Service } from '../../machine/machine.ts'
import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { ExistingMachine, HardwareChange, LogLine, LogOptions, MachineState, Overseer, Target } from '../target.ts'
import { hasFilledDisk, hasFilledVolume } from './filled-disk.ts'
import { agentGuest } from './guest-agent.ts'
import { containerGuest } from './guest-container.ts'
import { type GuestWithLogs, readGuestLogs } from './guest-logs.ts'
import type { Guest } from './guest.ts'
import { GuestMachine } from './guest-machine.ts'
import { compareHardwareRecords, hardwareOf } from './hardware-changes.ts'
import type { Hypervisor } from './hypervisor.ts'
import { inTurns } from './in-turns.ts'
import { Memory } from './memory.ts'
import type { DomainType } from './place-facts.ts'
import {
  existingMachine,
  isRunning,
  type PresentMachine,
  presentMachines,
  waitingForStart,
  writtenMachine,
} from './present-machine.ts'
import { recordElement } from './record-xml.ts'
import { deleteMachine, holdsData, keepMachine, stopMachine } from './remove-machine.ts'
import { machineState, silentState, stoppedState } from './service-states.ts'
import { startMachine } from './start-machine.ts'
import { findOrphan } from './orphan.ts'
import { placeMachine } from './place-machine.ts'
import { factsFor, writeMachine } from './write-machine.ts'
import { withoutPending } from './written-machine.ts'
import { unitName } from './cloud-init/units.ts'

export interface LibvirtTargetOptions {
  readonly stack: string
  readonly stackId?: string
  /** Where machines of the stack are, may be, or were. */
  readonly hypervisors: readonly Hypervisor[]
  /** What machines are to be made of, by name: for questions about one that is not there yet. */
  readonly hardware: ReadonlyMap<string, Hardware>
  readonly chooseType: (hypervisor: Hypervisor, wanted: Accelerator) => Promise<DomainType>
  /** What a machine is at. `isWarning`: it goes on in spite of it. */
  readonly onPhase: (machine: string, phase: string, isWarning: boolean) => void
  /** For files that are gone when we are done. */
  readonly temporary: string
  readonly signal: AbortSignal
  /** For a machine to boot the first time, packages included. */
  readonly bootTimeoutMs?: number
}

/** Emulated, a boot takes minutes, and more with packages to install. */
const BOOT_TIMEOUT_MS = 20 * 60_000
/** Beside what services take by themselves to stop. */
const STOP_PATIENCE_MS = 60_000
/** An emulated machine with much to do takes many seconds. */
const ANSWER_MS = 20_000
/** Whoever waits asks several times a second. */
const REMEMBER_MS = 1000

export class LibvirtTarget implements Target {
  readonly #options: LibvirtTargetOptions
  readonly #written = new Map<string, Promise<ExistingMachine | undefined>>()
  readonly #states = new Memory<MachineState>(REMEMBER_MS)
  readonly #present = new Memory<readonly PresentMachine[]>(REMEMBER_MS)

  constructor(options: LibvirtTargetOptions) {
    this.#options = options
  }

  async read(): Promise<ReadonlyMap<string, ExistingMachine>> {
    const machines = (await this.#all()).filter(({ record }) => record.isKept !== true)
    const read = await inTurns(machines, async (present) => existingMachine(present, await this.#writtenOf(present)))
    return new Map(read.map((existing) => [existing.name, existing]))
  }

  /** Those of which only data were kept, too. */
  async machines(): Promise<ReadonlyMap<string, MachineKind>> {
    return new Map((await this.#all()).map(({ record }) => [record.machine, record.kind]))
  }

  async compareHardware(machines: readonly Machine[]): Promise<ReadonlyMap<string, readonly HardwareChange[]>> {
    const present = new Map((await this.#all()).map((each) => [each.record.machine, each]))
    const compared = this.#options.hypervisors.map(async (hypervisor) => {
      const here = machines.filter(({ hardware }) => hardware.hypervisor === hypervisor.uri)
      const facts = here.length === 0 ? undefined : await factsFor(here, { ...this.#options, hypervisor })
      return here.map((machine) => {
        const there = present.get(machine.name)
        if (there === undefined || facts === undefined) return [machine.name, []] as const
        const wanted = hardwareOf(machine, placeMachine(machine, facts))
        return [
          machine.name,
          [...compareHardwareRecords(there.record.hardware, wanted), ...waitingForStart(there)],
        ] as const
      })
    })
    return new Map((await Promise.all(compared)).flat())
  }

  async write(machine: Machine): Promise<void> {
    const hypervisor = this.#hypervisorOf(machine)
    const present = (await presentMachines(hypervisor, this.#options.stack)).find(isNamed(machine.name))
    await writeMachine(machine, {
      ...this.#options,
      ...{ hypervisor, present },
      guest: async () => {
        const guest = this.#guestOf(present as PresentMachine)
        if (present?.record.appliedDigest === undefined) await this.#untilBooted(present as PresentMachine, guest)
        return guest
      },
    })
  }

  async start(machine: Machine): Promise<void> {
    const present = await this.#get(machine.name)
    const guest = this.#guestOf(present)
    await startMachine(machine, {
      ...{ present, guest, signal: this.#options.signal },
      place: async () =>
        placeMachine(machine, await factsFor([machine], { ...this.#options, hypervisor: present.hypervisor })),
      untilBooted: () => this.#untilBooted(present, guest),
      onPhase: (phase) => this.#tell(machine.name, phase),
    })
    this.#forget(machine.name)
  }

  async reload(machine: string, service: string): Promise<void> {
    const present = await this.#get(machine)
    await this.#guestOf(present).reload(service)
    if (present.record.pending?.[service] === 'reload') await this.#hasRead(present, service)
    this.#forget(machine)
  }

  async restart(machine: string, service: string): Promise<void> {
    const present = await this.#get(machine)
    const started = present.record.started?.find(({ name }) => name === service)
    if (started === undefined) throw notThere(`"${service}" of "${machine}"`)
    await this.#guestOf(present).restart(started)
    await this.#hasRead(present, service)
    this.#forget(machine)
  }

  async stop(machine: string): Promise<void> {
    const present = await this.#find(machine)
    if (present !== undefined) await this.#switchOff(present)
  }

  async remove(machine: string, { keepData }: { readonly keepData: boolean }): Promise<void> {
    // Where it was moved from, too.
    for (const present of (await this.#all()).filter(isNamed(machine))) {
      const isKept = keepData && holdsData(present)
      const hasServices = !isKept || !(await this.#removeServices(present))
      await this.#switchOff(present)
      if (isKept) await keepMachine(present, { hasServices })
      else await deleteMachine(present)
    }
    this.#forget(machine)
  }

  /** Where in it the path is makes no difference: a machine has one disk with data on it. */
  async isFilled(machine: string): Promise<boolean> {
    const present = (await this.#all()).find(isNamed(machine))
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

  async observe(): Promise<ReadonlyMap<string, MachineState>> {
    const all = await this.#present.recall('', () => this.#all())
    const there = all.filter(({ record }) => record.isKept !== true && record.started !== undefined)
    const states = await inTurns(there, (present) =>
      this.#states.recall(present.record.machine, () => this.#stateOf(present)),
    )
    return new Map(there.map(({ record }, index) => [record.machine, states[index]]))
  }

  async *logs(machines: readonly string[], options: LogOptions): AsyncGenerator<LogLine> {
    const all = (await this.#all()).filter((present) => isRunning(present) && machines.includes(present.record.machine))
    const guests: GuestWithLogs[] = all.map((present) => ({
      machine: present.record.machine,
      guest: this.#rawGuestOf(present),
      services: new Map((present.record.started ?? []).map(({ name }) => [unitName(name), name])),
    }))
    yield* readGuestLogs(guests, options, (machine, error) => this.#tell(machine, messageOf(error), true))
  }

  /** Programs of machines that went on to another version went with the last machine that had them. */
  settle(): Promise<void> {
    return Promise.resolve()
  }

  shutdown(): Promise<void> {
    return Promise.resolve()
  }

  /** In each machine, systemd. */
  overseer(): Overseer {
    return { isThere: true, pid: undefined }
  }

  async #all(): Promise<PresentMachine[]> {
    const { hypervisors, stack } = this.#options
    return (await Promise.all(hypervisors.map((each) => presentMachines(each, stack)))).flat()
  }

  async #find(machine: string): Promise<PresentMachine | undefined> {
    return (await this.#all()).find((present) => isNamed(machine)(present) && present.record.isKept !== true)
  }

  async #get(machine: string): Promise<PresentMachine> {
    const present = await this.#find(machine)
    if (present === undefined) throw notThere(`"${machine}"`)
    return present
  }

  #hypervisorOf({ name, hardware }: Machine): Hypervisor {
    const hypervisor = this.#options.hypervisors.find(({ uri }) => uri === hardware.hypervisor)
    if (hypervisor === undefined) throw new TypeError(`${name} is on a hypervisor that the target was not given`)
    return hypervisor
  }

  #rawGuestOf({ hypervisor, domain }: PresentMachine): Guest {
    return hypervisor.kind === 'lxc'
      ? containerGuest(hypervisor, domain.name)
      : agentGuest(hypervisor, domain.name, this.#options.signal)
  }

  #guestOf(present: PresentMachine): GuestMachine {
    return new GuestMachine(this.#rawGuestOf(present), present.record.machine, this.#options.signal)
  }

  async #untilBooted({ hypervisor, record: { machine } }: PresentMachine, guest: GuestMachine): Promise<void> {
    await guest.untilBooted({
      onPhase: (phase) => this.#tell(machine, phase),
      timeoutMs: this.#options.bootTimeoutMs ?? BOOT_TIMEOUT_MS,
      checkRunning: async () => {
        const present = (await presentMachines(hypervisor, this.#options.stack)).find(isNamed(machine))
        if (present === undefined || !isRunning(present))
          throw new HoldfastError('BootFailed', `Cannot start "${machine}": it was switched off while it booted`, {
            retryable: true,
          })
      },
    })
  }

  /** Read once while it stays the same. */
  #writtenOf(present: PresentMachine): Promise<ExistingMachine | undefined> {
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

  /** So that they do not start with what they had before. Whether that could be done. */
  async #removeServices(present: PresentMachine): Promise<boolean> {
    if (!isRunning(present)) return false
    try {
      await this.#guestOf(present).removeUnits(present.record.started ?? [])
      return true
    } catch (error) {
      if (error instanceof HoldfastError && error.code === 'GuestSilent') return false
      throw error
    }
  }

  async #switchOff(present: PresentMachine): Promise<void> {
    if (!isRunning(present)) return
    const { machine, started = [] } = present.record
    await stopMachine(present, {
      powerOff: () => this.#guestOf(present).powerOff(),
      timeoutMs: STOP_PATIENCE_MS + started.reduce((sum, { stopTimeoutMs }) => sum + stopTimeoutMs, 0),
      onKill: () => this.#tell(machine, 'it does not end by itself, and is switched off', true),
      signal: this.#options.signal,
    })
    this.#forget(machine)
  }

  async #stateOf(present: PresentMachine): Promise<MachineState> {
    const services: readonly Service[] = present.record.started ?? []
    if (!isRunning(present)) return stoppedState(services)
    try {
      return machineState(services, await this.#guestOf(present).units(ANSWER_MS))
    } catch (error) {
      if (error instanceof HoldfastError && ['GuestSilent', 'GuestFailed'].includes(error.code))
        return silentState(services, messageOf(error))
      throw error
    }
  }

  #forget(machine: string): void {
    this.#states.forget(machine)
    this.#present.forget('')
  }

  #tell(machine: string, phase: string, isWarning = false): void {
    this.#options.onPhase(machine, phase, isWarning)
  }
}

function isNamed(machine: string): (present: PresentMachine) => boolean {
  return ({ record }) => record.machine === machine
}

function notThere(what: string): HoldfastError {
  return new HoldfastError('MachineMissing', `Cannot find ${what}: it is not there any more`, {
    hint: '"holdfast up" makes it again',
  })
}
