// The supervisor of a stack: makes what runs on its machines what should run, for as long as there is something to run.
// It talks to nobody: it reads what is desired from files and writes what it observes to files. Killed at any moment,
// the next one goes on.

import {
  existsSync,
  type FSWatcher,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { performance } from 'node:perf_hooks'
import { HoldfastError, messageOf } from '../../../lib/errors.ts'
import { type Layout, layoutOf, logOf } from '../layout.ts'
import { machinesIn, parseState, readState, stateFile } from '../state-file.ts'
import { isDesiredMachine } from './desired.ts'
import { findKeeper, findSupervisor, startKeeper } from './keeper.ts'
import { ServiceFinder } from './machine-processes.ts'
import { MachineCare, type MachineSurroundings } from './machine-care.ts'
import { loadObserved, type ObservedMachine } from './observed.ts'
import { bootId, commandOf } from './process-table.ts'
import { rotateLog } from './rotate-log.ts'
import { HOST } from './system.ts'

/** Processes that are no children of ours, and the keeper, are looked at this often. */
const LOOK_MS = 250
/** For a keeper to have taken its place. */
const KEEPER_PAUSE_MS = 1000
/** What no event may have told, and the sizes of logs. */
const SLOW_LOOK_MS = 2000

export interface SuperviseOptions {
  /** Supervision ends; what runs goes on running. */
  readonly signal: AbortSignal
  readonly log: (message: string) => void
}

/** Resolves when there is nothing left to run, or when told to end. */
export async function supervise(directory: string, options: SuperviseOptions): Promise<void> {
  const layout = layoutOf(realpathSync(directory))
  if (!holds(layout.lock))
    throw new HoldfastError(
      'NotKept',
      `Cannot supervise "${directory}": this is not the process that its keeper has started; "holdfast up" starts both`,
    )
  using supervisor = new Supervisor(layout, options)
  await supervisor.run(options.signal)
}

class Supervisor {
  readonly #layout: Layout
  readonly #log: (message: string) => void
  readonly #around: MachineSurroundings
  readonly #machines = new Map<string, MachineCare>()
  /** Texts as they were read last, also of files that cannot be used. */
  readonly #texts = new Map<string, string>()
  readonly #watcher: FSWatcher | undefined
  #isChanged = true
  #slowLookAt = 0
  #keeperDueAt = 0
  #wake: () => void = () => undefined

  constructor(layout: Layout, { log }: SuperviseOptions) {
    this.#layout = layout
    this.#log = log
    mkdirSync(layout.desired, { recursive: true, mode: 0o700 })
    mkdirSync(layout.observed, { recursive: true, mode: 0o700 })
    writeFileSync(layout.pid, `${process.pid}\n`)
    const ownUid = process.getuid?.() ?? 0
    this.#around = {
      system: HOST,
      layout,
      isRoot: ownUid === 0,
      ownUid,
      bootId: bootId(),
      log,
      wake: () => this.#wake(),
    }
    this.#watcher = this.#watch()
  }

  [Symbol.dispose](): void {
    this.#watcher?.close()
    rmSync(this.#layout.pid, { force: true })
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#log('supervisor started')
    while (!signal.aborted) {
      this.#pass(performance.now())
      if (this.#isIdle()) return this.#log('nothing is to run any more; supervisor ends')
      await this.#pause(signal)
    }
    this.#log('supervisor told to end; what runs goes on running')
  }

  #pass(now: number): void {
    const isSlow = now >= this.#slowLookAt
    if (isSlow) {
      this.#slowLookAt = now + SLOW_LOOK_MS
      this.#keepPlaces()
    }
    if (isSlow || this.#isChanged) this.#readDesired()
    for (const machine of this.#machines.values()) machine.pass(now)
    this.#keepKeeper(now)
    if (isSlow) this.#rotateLogs()
  }

  /** Where commands look for us and for what we observe, should somebody have removed it; not the stack with it. */
  #keepPlaces(): void {
    const { supervisor, observed, pid } = this.#layout
    try {
      if (!existsSync(supervisor)) return
      if (!existsSync(observed)) {
        mkdirSync(observed, { mode: 0o700 })
        for (const machine of this.#machines.values()) machine.saveAgain()
      }
      if (findSupervisor(this.#layout) !== process.pid) writeFileSync(pid, `${process.pid}\n`)
    } catch (error) {
      this.#log(messageOf(error))
    }
  }

  #keepKeeper(now: number): void {
    if (now < this.#keeperDueAt || findKeeper(this.#layout) !== undefined) return
    this.#keeperDueAt = now + KEEPER_PAUSE_MS
    try {
      startKeeper(this.#layout, commandOf('self'))
    } catch (error) {
      this.#log(messageOf(error))
    }
  }

  /** What cannot be used leaves its machine as it is; what is gone is nobody's business any more. */
  #readDesired(): void {
    this.#isChanged = false
    let names: string[]
    try {
      names = machinesIn(this.#layout.desired)
    } catch (error) {
      return this.#log(messageOf(error))
    }
    for (const name of [...this.#texts.keys()].filter((each) => !names.includes(each))) this.#forget(name)
    const finder = new ServiceFinder()
    for (const name of names) {
      try {
        this.#readMachine(name, finder)
      } catch (error) {
        this.#log(messageOf(error))
        this.#texts.set(name, this.#texts.get(name) ?? '')
      }
    }
  }

  #forget(name: string): void {
    this.#texts.delete(name)
    this.#machines.delete(name)
    rmSync(stateFile(this.#layout.observed, name), { force: true })
  }

  #readMachine(name: string, finder: ServiceFinder): void {
    const path = stateFile(this.#layout.desired, name)
    const text = readState(path)
    if (text === undefined || text === this.#texts.get(name)) return
    this.#texts.set(name, text)
    const desired = parseState(path, text, isDesiredMachine)
    const machine = this.#machines.get(name)
    if (machine !== undefined) machine.desired = desired
    else this.#machines.set(name, new MachineCare(this.#around, desired, this.#before(name), finder))
  }

  #before(name: string): ObservedMachine | undefined {
    try {
      return loadObserved(this.#layout, name)
    } catch (error) {
      this.#log(`${messageOf(error)}; looking for its processes instead`)
      return undefined
    }
  }

  #isIdle(): boolean {
    return this.#texts.size === this.#machines.size && [...this.#machines.values()].every(({ isIdle }) => isIdle)
  }

  #rotateLogs(): void {
    const logs = [...this.#machines].flatMap(([name, { services }]) =>
      services.map((each) => logOf(this.#layout, name, each)),
    )
    for (const path of [this.#layout.log, ...logs]) {
      try {
        rotateLog(path)
      } catch (error) {
        this.#log(`Cannot rotate "${path}": ${messageOf(error)}`)
      }
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    if (this.#isChanged) return
    const now = performance.now()
    const dueAt = Math.min(now + LOOK_MS, ...[...this.#machines.values()].map((machine) => machine.dueAt))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    signal.addEventListener('abort', () => resolve(), { once: true })
    const timer = setTimeout(resolve, Math.max(0, dueAt - now))
    await promise
    clearTimeout(timer)
  }

  /** Without it, a change is noticed by the slow look. */
  #watch(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#layout.desired, () => {
        this.#isChanged = true
        this.#wake()
      })
      return watcher.on('error', (error) => this.#log(`Cannot watch "${this.#layout.desired}": ${messageOf(error)}`))
    } catch (error) {
      this.#log(`Cannot watch "${this.#layout.desired}": ${messageOf(error)}`)
      return undefined
    }
  }
}

/** Whether this process has the file open: what flock was told to run has it. */
function holds(path: string): boolean {
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      return false
    }
  })
}
