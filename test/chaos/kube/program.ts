// A program under test, which is killed, paused and started again; nobody but us ends it.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { HoldfastProcess } from '../../support/holdfast-process.ts'
import { until } from '../../support/until.ts'
import type { Journal } from '../journal.ts'
import type { ApiProxy } from './api-proxy.ts'

export interface ProgramOptions {
  readonly name: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** For everything; the program gets a part of it. */
  readonly directory: string
  /** Between it and the API server; undefined: it does not ask it. */
  readonly proxy?: ApiProxy
  /** What it says when it is there. */
  readonly ready?: RegExp
  readonly journal: Journal
}

const START_MS = 150_000

export class Program {
  readonly name: string
  readonly proxy: ApiProxy | undefined
  /** Changes whenever it is killed: answers from before count no more. */
  generation = 0
  isUp = false
  readonly #options: ProgramOptions
  #process: HoldfastProcess | undefined
  #output = ''

  constructor(options: ProgramOptions) {
    this.#options = options
    this.name = options.name
    this.proxy = options.proxy
  }

  get output(): string {
    return this.#output + (this.#process?.output ?? '')
  }

  async start(): Promise<void> {
    const { args, env, directory, ready } = this.#options
    const own = join(directory, this.name)
    mkdirSync(own, { recursive: true })
    const child = new HoldfastProcess(args, own, ['ignore', 'pipe', 'pipe'], env)
    this.#process = child
    void this.#guard(child)
    if (ready !== undefined)
      await Promise.race([until(`${this.name}: ${ready}`, () => ready.test(child.output), START_MS), child.failure()])
    this.isUp = true
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  terminate(): Promise<void> {
    return this.#end('SIGTERM')
  }

  pause(): void {
    this.#process?.kill('SIGSTOP')
  }

  resume(): void {
    this.#process?.kill('SIGCONT')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.generation++
    this.isUp = false
    const child = this.#process
    child?.kill(signal)
    await child?.ended()
    this.#process = undefined
    this.#output += child?.output ?? ''
  }

  async #guard(child: HoldfastProcess): Promise<void> {
    const { generation } = this
    const reason = await child.ended()
    if (this.generation === generation) this.#options.journal.violation(`${this.name} ended with ${reason}`)
  }
}
