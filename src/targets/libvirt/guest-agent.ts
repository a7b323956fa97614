// What runs inside a virtual machine, by its guest agent. The agent starts a program and says later how it ended, so we
// ask again and again. What the program reads goes into a file of the machine first: only root can read it, it is gone
// before the program starts, and it may be longer than one command to the agent.

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../../lib/errors.ts'
import type { Guest, GuestRunOptions } from './guest.ts'
import { isOn } from './domain-state.ts'
import type { Ended, Hypervisor } from './hypervisor.ts'
import { Patience } from './patience.ts'

/** Of what one command to the agent carries; a third longer as base64. */
const CHUNK_BYTES = 48 * 1024
/** What it is asked takes it no time; an emulated machine with much to do takes some. */
const ANSWER_MS = 30_000
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 500
/** Who was killed in between has left one. */
const MAKE_FILE =
  'umask 077; find /run -maxdepth 1 -name "holdfast.????????" -mmin +60 -delete; mktemp /run/holdfast.XXXXXXXX'
/** For removing what should not stay, also when nobody waits for us any more. */
const CLEAR_MS = 10_000
const READ_FILE = 'exec <"$0"; rm -f "$0"; exec "$@"'

export function agentGuest(hypervisor: Hypervisor, domain: string, signal: AbortSignal): Guest {
  return { run: (command, options) => new AgentRun(hypervisor, domain, signal, options).run(command) }
}

class AgentRun {
  readonly #hypervisor: Hypervisor
  readonly #domain: string
  readonly #signal: AbortSignal
  readonly #options: GuestRunOptions
  readonly #patience = new Patience()
  #deadline: number

  constructor(hypervisor: Hypervisor, domain: string, signal: AbortSignal, options: GuestRunOptions) {
    this.#hypervisor = hypervisor
    this.#domain = domain
    this.#signal = signal
    this.#options = options
    this.#deadline = performance.now() + options.timeoutMs
  }

  async run(command: readonly string[]): Promise<Ended> {
    const { input } = this.#options
    if (input === undefined) return this.#exec(command)
    const made = await this.#exec(['/bin/sh', '-c', MAKE_FILE])
    const path = made.output.trim()
    if (made.code !== 0 || path === '') throw this.#failed(command, `no file for its input: ${made.errors.trim()}`)
    try {
      await this.#writeFile(path, Buffer.from(input))
      this.#deadline = performance.now() + this.#options.timeoutMs
      return await this.#exec(['/bin/sh', '-c', READ_FILE, path, ...command])
    } catch (error) {
      await this.#clear(path)
      throw error
    }
  }

  /** The signal may be the reason for it; whether it could be done makes no difference to who was told another error. */
  async #clear(path: string): Promise<void> {
    const hypervisor = this.#hypervisor.until(AbortSignal.timeout(CLEAR_MS))
    const command = { execute: 'guest-exec', arguments: { path: 'rm', arg: ['-f', path] } }
    await hypervisor.agent(this.#domain, command, CLEAR_MS).catch(() => undefined)
  }

  async #exec(command: readonly string[]): Promise<Ended> {
    const [path, ...arg] = command
    const { pid } = await this.#ask<{ pid: number }>('guest-exec', { path, arg, 'capture-output': true })
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const asking = () => this.#ask<ExecStatus>('guest-exec-status', { pid }).catch(ifSilent)
      const status = await this.#patience.bear(asking, undefined)
      if (status?.exited === true) return ended(status)
      if (status === undefined && !(await this.#patience.bear(() => this.#isOn(), true)))
        throw this.#failed(command, 'its domain does not run any more')
      if (performance.now() > this.#deadline)
        throw this.#failed(command, `not ended after ${this.#options.timeoutMs / 1000} s`)
      await sleep(pauseMs * (0.75 + Math.random() / 2), undefined, { signal: this.#signal })
    }
  }

  async #isOn(): Promise<boolean> {
    const now = await this.#hypervisor.state(this.#domain)
    return now !== undefined && isOn(now)
  }

  async #writeFile(path: string, bytes: Buffer): Promise<void> {
    const handle = await this.#ask<number>('guest-file-open', { path, mode: 'w' })
    try {
      for (let at = 0; at < bytes.length; ) {
        // By ssh each is a connection.
        this.#deadline = performance.now() + ANSWER_MS
        const chunk = bytes.subarray(at, at + CHUNK_BYTES).toString('base64')
        const { count } = await this.#ask<{ count: number }>('guest-file-write', { handle, 'buf-b64': chunk })
        at += count
      }
    } finally {
      await this.#ask('guest-file-close', { handle })
    }
  }

  async #ask<T>(execute: string, args: object): Promise<T> {
    const leftMs = Math.min(ANSWER_MS, Math.max(1000, this.#deadline - performance.now()))
    return (await this.#hypervisor.agent(this.#domain, { execute, arguments: args }, leftMs)) as T
  }

  #failed([program]: readonly string[], why: string): HoldfastError {
    return new HoldfastError('GuestSilent', `Cannot run "${program}" in "${this.#domain}": ${why}`, { retryable: true })
  }
}

interface ExecStatus {
  readonly exited: boolean
  readonly exitcode?: number
  readonly signal?: number
  readonly 'out-data'?: string
  readonly 'err-data'?: string
}

/** It may be busy, or be updated, while the program goes on. */
function ifSilent(error: unknown): undefined {
  if (!(error instanceof HoldfastError && error.code === 'GuestSilent')) throw error
}

/** As a shell counts: 128 and more for one that was ended by a signal. */
function ended({ exitcode, signal = 0, ...data }: ExecStatus): Ended {
  const text = (base64 = '') => Buffer.from(base64, 'base64').toString()
  return { code: exitcode ?? 128 + signal, output: text(data['out-data']), errors: text(data['err-data']) }
}
