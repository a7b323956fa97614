// A machine that runs, from inside: waiting until it is there, changing its files, and telling systemd about its services.

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { Service } from '../../machine/machine.ts'
import {
  type Applied,
  APPLY_PATH,
  type ApplyRequest,
  type GuestState,
  type UnitState,
} from './cloud-init/apply-program.ts'
import { unitName } from '../../machine/unit-name.ts'
import type { Guest } from './guest.ts'
import type { Ended } from './hypervisor.ts'
import { Patience } from './patience.ts'

export interface BootOptions {
  /** What it is at, for people. */
  readonly onPhase: (phase: string) => void
  /** Rejects when it does not run any more. */
  readonly checkRunning: () => Promise<void>
  readonly timeoutMs: number
}

/** Asking who may not be there yet. */
const KNOCK_MS = 5000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3000
const COMMAND_MS = 60_000
/** Beside what a service takes by itself to stop. */
const PATIENCE_MS = 30_000
/** Some of its work failed in a way that it calls recoverable. */
const DEGRADED = 2
const ERROR_LINES = 5
/** How asking fails while there is no agent yet, or no first process of a container. */
const NOT_YET: readonly string[] = ['GuestSilent', 'LibvirtFailed']

export class GuestMachine {
  readonly #guest: Guest
  readonly #name: string
  readonly #signal: AbortSignal

  constructor(guest: Guest, name: string, signal: AbortSignal) {
    this.#guest = guest
    this.#name = name
    this.#signal = signal
  }

  /** Resolves when cloud-init has done its work. */
  async untilBooted({ onPhase, checkRunning, timeoutMs }: BootOptions): Promise<void> {
    const deadline = performance.now() + timeoutMs
    const patience = new Patience()
    onPhase('booting')
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
      const problem = await patience.bear(() => this.#whyNotUp(), 'its hypervisor does not answer')
      if (problem === undefined) break
      await patience.bear(checkRunning, undefined)
      if (performance.now() > deadline)
        throw new HoldfastError(
          'BootFailed',
          `Cannot reach "${this.#name}": nothing in it answers after ${Math.round(timeoutMs / 1000)} s: ${problem}; expected a system that boots, with a guest agent`,
          {
            hint: 'its console (virsh console) shows how far it has come; "holdfast up" goes on waiting',
            retryable: true,
          },
        )
      await sleep(pauseMs * (0.75 + Math.random() / 2), undefined, { signal: this.#signal })
    }
    onPhase('cloud-init')
    const leftMs = Math.max(COMMAND_MS, deadline - performance.now())
    const waiting = this.#guest.run(['cloud-init', 'status', '--wait', '--long'], { timeoutMs: leftMs })
    const { code, output } = await waiting.catch(async (error: unknown) => {
      await checkRunning()
      throw error
    })
    if (code !== 0 && code !== DEGRADED) throw await this.#cloudInitFailed(output)
  }

  async apply(request: ApplyRequest): Promise<Applied> {
    return JSON.parse(await this.#python([], COMMAND_MS, JSON.stringify(request))) as Applied
  }

  async state(timeoutMs = COMMAND_MS): Promise<GuestState> {
    const state = JSON.parse(await this.#python(['state'], timeoutMs)) as GuestState | readonly UnitState[]
    return 'units' in state ? state : { units: state }
  }

  async units(): Promise<readonly UnitState[]> {
    return (await this.state()).units
  }

  async enable(services: readonly Service[]): Promise<void> {
    await this.apply({ enable: services.map(({ name }) => unitName(name)) })
  }

  /** Those that are there no longer. */
  async removeUnits(services: readonly Service[]): Promise<void> {
    const request: ApplyRequest = { removeUnits: services.map(({ name }) => unitName(name)) }
    await this.#python([], COMMAND_MS + stopTimeMs(services), JSON.stringify(request))
  }

  /** Those that run go on; how the others fare is seen by their states. */
  async start(services: readonly Service[]): Promise<void> {
    if (services.length > 0)
      await this.#systemctl(['start', '--no-block', ...services.map(({ name }) => unitName(name))])
  }

  /** It is stopped first, so that nobody takes what it was for what it will be. */
  async restart(service: Service): Promise<void> {
    const unit = unitName(service.name)
    await this.#systemctl(['stop', unit], stopTimeMs([service]))
    // Neither a step nor what waits for one comes to an end in a time that is known.
    await this.#systemctl(['start', '--no-block', unit])
  }

  async reload(service: string): Promise<void> {
    const unit = unitName(service)
    const ended = await this.#guest.run(['systemctl', 'reload', unit], { timeoutMs: COMMAND_MS })
    // One that does not run reads its files when it starts.
    if (ended.code === 0 || !(await this.#isActive(unit))) return
    throw this.#failed(`reload "${service}"`, ended)
  }

  /** Undefined when it is: by then what decides whether cloud-init runs has run, too. */
  async #whyNotUp(): Promise<string | undefined> {
    try {
      const { code } = await this.#guest.run(['systemctl', 'show', '--property=Version'], { timeoutMs: KNOCK_MS })
      return code === 0 ? undefined : 'systemd does not answer'
    } catch (error) {
      if (error instanceof HoldfastError && NOT_YET.includes(error.code)) return error.message
      throw error
    }
  }

  async #isActive(unit: string): Promise<boolean> {
    return (await this.#guest.run(['systemctl', 'is-active', '--quiet', unit], { timeoutMs: COMMAND_MS })).code === 0
  }

  async #systemctl(words: readonly string[], moreMs = 0): Promise<void> {
    const ended = await this.#guest.run(['systemctl', ...words], { timeoutMs: PATIENCE_MS + moreMs })
    if (ended.code !== 0) throw this.#failed(`run "systemctl ${words.join(' ')}"`, ended)
  }

  async #python(words: readonly string[], timeoutMs: number, input?: string): Promise<string> {
    const ended = await this.#guest.run(['python3', APPLY_PATH, ...words], {
      timeoutMs,
      ...(input === undefined ? {} : { input }),
    })
    if (ended.code !== 0) throw this.#failed(words.length === 0 ? 'write files' : 'read the states of services', ended)
    return ended.output
  }

  #failed(what: string, { code, errors, output }: Ended): HoldfastError {
    const said = (errors.trim() || output.trim()).split('\n').at(-1)
    return new HoldfastError('GuestFailed', `Cannot ${what} in "${this.#name}": ${said || `exit code ${code}`}`)
  }

  async #cloudInitFailed(status: string): Promise<HoldfastError> {
    const detail = status.slice(status.indexOf('detail:')).split('\n').slice(1)
    const log = await this.#errorLines().catch((error: unknown) => messageOf(error))
    const said = new Set([...detail, ...log.split('\n')].filter((line) => line.trim() !== ''))
    return new HoldfastError(
      'CloudInitFailed',
      `Cannot set up "${this.#name}": cloud-init has failed:\n${[...said].map((line) => `  ${line}`).join('\n')}`,
      { hint: 'all of it is in /var/log/cloud-init.log and /var/log/cloud-init-output.log of the machine' },
    )
  }

  async #errorLines(): Promise<string> {
    const script = `grep -hE '\\[(ERROR|WARNING|CRITICAL)\\]|^E: ' /var/log/cloud-init.log /var/log/cloud-init-output.log | tail -n ${ERROR_LINES}`
    return (await this.#guest.run(['sh', '-c', script], { timeoutMs: COMMAND_MS })).output
  }
}

function stopTimeMs(services: readonly Service[]): number {
  return services.reduce((sum, { stopTimeoutMs }) => sum + stopTimeoutMs, 0)
}
