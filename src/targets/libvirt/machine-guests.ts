// The ways into the machines of a stack: who answers there, until when a boot is waited for, and how the services inside stand.

import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { MachineState } from '../target.ts'
import { unitName } from '../../machine/unit-name.ts'
import { isOn, pausedError } from './domain-state.ts'
import { agentGuest } from './guest-agent.ts'
import { containerGuest } from './guest-container.ts'
import type { GuestWithLogs } from './guest-logs.ts'
import { GuestMachine } from './guest-machine.ts'
import type { Guest } from './guest.ts'
import { isRunning, type PresentMachine } from './present-machine.ts'
import { machineState, silentState, stoppedState } from './service-states.ts'

export interface MachineGuestsOptions {
  /** What a machine is at. */
  readonly onPhase: (machine: string, phase: string) => void
  readonly signal: AbortSignal
  /** For a machine to boot the first time, packages included. */
  readonly bootTimeoutMs?: number
}

/** Emulated, a boot takes minutes, and more with packages to install. */
const BOOT_TIMEOUT_MS = 20 * 60_000
/** An emulated machine with much to do takes many seconds. */
const ANSWER_MS = 20_000
/** How it fails when nobody inside answers. */
const NOBODY: readonly string[] = ['GuestSilent', 'MachinePaused']

export class MachineGuests {
  readonly #options: MachineGuestsOptions

  constructor(options: MachineGuestsOptions) {
    this.#options = options
  }

  /** Throws when it is paused: nobody would answer, for as long as that takes. */
  of(present: PresentMachine): GuestMachine {
    return new GuestMachine(this.#inside(present), present.record.machine, this.#options.signal)
  }

  /** Resolves when cloud-init has done its work. */
  async untilBooted({ hypervisor, domain, record: { machine } }: PresentMachine, guest: GuestMachine): Promise<void> {
    const { onPhase, bootTimeoutMs = BOOT_TIMEOUT_MS } = this.#options
    await guest.untilBooted({
      onPhase: (phase) => onPhase(machine, phase),
      timeoutMs: bootTimeoutMs,
      checkRunning: async () => {
        const now = await hypervisor.state(domain.name)
        if (now?.state === 'paused') throw pausedError(machine, hypervisor.uri, { ...domain, ...now })
        if (now === undefined || !isOn(now))
          throw new HoldfastError('BootFailed', `Cannot start "${machine}": it was switched off while it booted`, {
            retryable: true,
          })
      },
    })
  }

  async stateOf(present: PresentMachine): Promise<MachineState> {
    const { started = [] } = present.record
    if (!isRunning(present)) return stoppedState(started)
    try {
      const { units, disk } = await this.of(present).state(ANSWER_MS)
      return { ...machineState(started, units), ...(disk && { disk }) }
    } catch (error) {
      if (error instanceof HoldfastError && [...NOBODY, 'GuestFailed'].includes(error.code))
        return silentState(started, told(error))
      throw error
    }
  }

  /** One that is paused is told to be when its logs are read. */
  withLogs(present: PresentMachine): GuestWithLogs {
    const { machine, started = [] } = present.record
    return {
      machine,
      guest: { run: (command, how) => this.#inside(present).run(command, how) },
      services: new Map(started.map(({ name }) => [unitName(name), name])),
    }
  }

  /** So that they do not start with what they had before. Whether that could be done. */
  async removeServices(present: PresentMachine): Promise<boolean> {
    if (!isRunning(present)) return false
    try {
      await this.of(present).removeUnits(present.record.started?.toReversed() ?? [])
      return true
    } catch (error) {
      if (error instanceof HoldfastError && NOBODY.includes(error.code)) return false
      throw error
    }
  }

  #inside({ hypervisor, domain, record }: PresentMachine): Guest {
    if (domain.state === 'paused') throw pausedError(record.machine, hypervisor.uri, domain)
    return hypervisor.kind === 'lxc'
      ? containerGuest(hypervisor, domain.name)
      : agentGuest(hypervisor, domain.name, this.#options.signal)
  }
}

function told(error: HoldfastError): string {
  return error.code === 'MachinePaused' ? `${error.message}; ${error.hint}` : messageOf(error)
}
