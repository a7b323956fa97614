// What happens while a stack is brought up or down. On a terminal a list that is painted in place, a line for each
// machine and one for the whole; elsewhere a plain line for each change, as it comes.

import type { Progress, ProgressEvent } from '../stack/progress.ts'
import { hasColour, isLiveTerminal, type Paint, painter, type Style } from './colour.ts'
import type { Io } from './command.ts'
import { formatElapsed } from './duration.ts'
import { LiveArea, type Screen } from './live-area.ts'
import { FRAME_MS, finalLines, listLines, type ProgressList, type ProgressRow, summaryText } from './progress-list.ts'
import { printable } from './table.ts'

interface ProgressOptions {
  /** Those that will be worked on: they are listed from the start, in this order. */
  readonly machines?: readonly string[]
  /** After it the cursor is visible again, while the list goes on. */
  readonly signal?: AbortSignal
}

const LOG_STYLES: Readonly<Record<ProgressEvent['state'], Style | undefined>> = {
  working: undefined,
  ready: undefined,
  warning: 'yellow',
  failed: 'red',
}

/** To be closed in any case: `using view = new ProgressView(…)`. Until then nobody else may write to the terminal. */
export class ProgressView {
  readonly #out: Screen
  readonly #paint: Paint
  /** Undefined where nothing can be painted over. */
  readonly #area: LiveArea | undefined
  readonly #timer: NodeJS.Timeout | undefined
  readonly #startMs = performance.now()
  readonly #rows = new Map<string, ProgressRow>()
  #stack: ProgressList['stack'] = { state: 'working', message: '' }
  #isOver = false

  constructor(io: Pick<Io, 'env'>, out: Screen, { machines = [], signal }: ProgressOptions = {}) {
    this.#out = out
    this.#paint = painter(hasColour(io, out))
    for (const machine of machines)
      this.#rows.set(machine, { machine, state: 'waiting', message: 'waiting', startMs: undefined, endMs: undefined })
    if (!isLiveTerminal(io, out)) return
    this.#area = new LiveArea(out, { signal, onResize: () => this.#repaint() })
    this.#timer = setInterval(() => this.#repaint(), FRAME_MS).unref()
  }

  readonly report: Progress = (event) => {
    const { machine, state, message } = event
    const last = machine === undefined ? this.#stack : this.#rows.get(machine)
    if (this.#isOver || (last?.state === state && last.message === message)) return
    // A warning is no step of its own, and must not be gone with the next one.
    if (this.#area === undefined || state === 'warning') this.#tell(event)
    if (state === 'warning') return
    if (machine === undefined) this.#stack = { state, message }
    else this.#rows.set(machine, this.#nextRow(machine, state, message))
  }

  /** A line that stays, above the list. */
  log(line: string): void {
    this.#print(printable(line))
  }

  /** Leaves how it ended, with the time it took in all. */
  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#timer)
    const list = this.#list()
    if (this.#area !== undefined)
      this.#area.close(
        finalLines(list, this.#paint, this.#area.height)
          .map((line) => `${line}\n`)
          .join(''),
      )
    // Of the whole alone, the last word was told as it came.
    else if (list.rows.length > 0) this.#print(`${this.#elapsed()}  ${printable(summaryText(list))}`)
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #nextRow(machine: string, state: ProgressRow['state'], message: string): ProgressRow {
    const nowMs = performance.now()
    const startMs = this.#rows.get(machine)?.startMs ?? nowMs
    return { machine, state, message, startMs, endMs: state === 'working' ? undefined : nowMs }
  }

  #tell({ machine, state, message }: ProgressEvent): void {
    const word = state === 'warning' ? 'warning: ' : state === 'failed' ? 'failed: ' : ''
    const text = printable(`${machine === undefined ? '' : `${machine}: `}${word}${message}`)
    const style = LOG_STYLES[state]
    this.#print(`${this.#elapsed()}  ${style === undefined ? text : this.#paint(style, text)}`)
  }

  #print(line: string): void {
    if (this.#area === undefined) this.#out.write(`${line}\n`)
    else this.#area.print(`${line}\n`)
  }

  #repaint(): void {
    this.#area?.paint(listLines(this.#list(), this.#paint, this.#area.width, this.#area.height))
  }

  #list(): ProgressList {
    const rows = [...this.#rows.values()]
    return { rows, stack: this.#stack, startMs: this.#startMs, nowMs: performance.now(), isOver: this.#isOver }
  }

  #elapsed(): string {
    return formatElapsed(performance.now() - this.#startMs).padStart(10)
  }
}
