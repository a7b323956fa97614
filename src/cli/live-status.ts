// The status of a stack, followed: on a terminal the table is painted in place and changes are highlighted for a while;
// elsewhere each change is a line.

import { setTimeout as sleep } from 'node:timers/promises'
import type { StackStatus } from '../stack/status.ts'
import { hasColour, isLiveTerminal, painter } from './colour.ts'
import type { Io } from './command.ts'
import { LiveArea, type Screen } from './live-area.ts'
import { exampleLines, formatStackStatus, statusLines } from './stack-status-table.ts'
import { statusChanges } from './status-changes.ts'
import { printable } from './table.ts'

interface LiveStatusOptions {
  readonly signal?: AbortSignal
  /** Whether to begin with the lines to try. */
  readonly examples?: boolean
}

const PERIOD_MS = 1000
const HIGHLIGHT_MS = 5000

/** To be closed in any case: `using view = new LiveStatus(…)`. Until then nobody else may write to the terminal. */
export class LiveStatus {
  readonly #out: Screen
  readonly #colour: boolean
  readonly #examples: boolean
  /** Undefined where nothing can be painted over. */
  readonly #area: LiveArea | undefined
  readonly #timer: NodeJS.Timeout | undefined
  #status: StackStatus | undefined
  /** Until when a machine stands out, in Unix milliseconds. */
  readonly #highlights = new Map<string, number>()

  constructor(io: Pick<Io, 'env'>, out: Screen, { signal, examples = false }: LiveStatusOptions = {}) {
    this.#out = out
    this.#colour = hasColour(io, out)
    this.#examples = examples
    if (!isLiveTerminal(io, out)) return
    this.#area = new LiveArea(out, { signal, onResize: () => this.#repaint() })
    this.#timer = setInterval(() => this.#repaint(), PERIOD_MS).unref()
  }

  show(status: StackStatus): void {
    const before = this.#status
    this.#status = status
    const changes = before === undefined ? [] : statusChanges(before, status)
    for (const { subject } of changes) this.#highlights.set(subject, Date.now() + HIGHLIGHT_MS)
    if (before === undefined) this.#begin(status)
    if (this.#area !== undefined) return this.#repaint()
    const time = new Date().toTimeString().slice(0, 'HH:MM:SS'.length)
    for (const { subject, text } of changes) this.#out.write(`${time} ${printable(`${subject}: ${text}`)}\n`)
  }

  /** Leaves the table as it was last. */
  close(): void {
    clearInterval(this.#timer)
    this.#highlights.clear()
    this.#area?.close(asText(this.#lines()))
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** What is said once. Lines to try are no part of what is painted: there they could be cut. */
  #begin(status: StackStatus): void {
    const examples = this.#examples
    if (this.#area === undefined)
      this.#out.write(formatStackStatus(status, { colour: this.#colour, now: Date.now(), examples }))
    else if (examples) this.#area.print(asText([...exampleLines(status, painter(this.#colour)), '']))
  }

  #repaint(): void {
    if (this.#status === undefined) return
    const footer = painter(this.#colour)('dim', `Ctrl-C to exit; ${printable(this.#status.stack)} keeps running`)
    this.#area?.paint([...this.#lines(2), '', footer])
  }

  /** The table within the terminal. */
  #lines(reserved = 0): string[] {
    if (this.#area === undefined || this.#status === undefined) return []
    const { width, height } = this.#area
    const now = Date.now()
    const highlighted = new Set([...this.#highlights].filter(([, until]) => until > now).map(([machine]) => machine))
    const room = height - reserved
    return statusLines(this.#status, { colour: this.#colour, now, width, height: room, highlighted }).slice(0, room)
  }
}

function asText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

/** Shows the status of a stack, every second until the signal. */
export async function watchStatus(
  stack: { status(signal: AbortSignal): Promise<StackStatus> },
  io: Pick<Io, 'env' | 'stdout'>,
  signal: AbortSignal,
  options: Pick<LiveStatusOptions, 'examples'> = {},
): Promise<void> {
  using view = new LiveStatus(io, io.stdout, { ...options, signal })
  while (!signal.aborted) {
    try {
      view.show(await stack.status(signal))
      await sleep(PERIOD_MS, undefined, { signal })
    } catch (thrown) {
      if (!signal.aborted) throw thrown
    }
  }
}
