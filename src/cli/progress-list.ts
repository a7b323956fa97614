// The list of machines that are worked on, as lines: pure, so that what is painted ten times a second can be looked at
// by itself.

import type { Paint } from './colour.ts'
import { formatElapsed } from './duration.ts'
import { printable, truncate } from './table.ts'

export interface ProgressRow {
  readonly machine: string
  readonly state: 'waiting' | 'working' | 'ready' | 'failed'
  readonly message: string
  /** Of the first event, and of the one that ended it. */
  readonly startMs: number | undefined
  readonly endMs: number | undefined
}

export interface ProgressList {
  readonly rows: readonly ProgressRow[]
  /** The stack as a whole. */
  readonly stack: Pick<ProgressRow, 'state' | 'message'>
  readonly startMs: number
  readonly nowMs: number
  /** Nothing comes any more. */
  readonly isOver: boolean
}

export const FRAME_MS = 100
const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
const STYLES = { waiting: 'dim', working: 'cyan', ready: 'green', failed: 'red' } as const
const TEXT_STYLES = { ...STYLES, working: undefined, ready: undefined } as const
/** Who is shown first where there is no room for all. */
const URGENCY: readonly ProgressRow['state'][] = ['failed', 'working', 'waiting', 'ready']

/** A line for each machine and one for the whole, within the size of the terminal. */
export function listLines(list: ProgressList, paint: Paint, width: number, height: number): string[] {
  const shown = mostUrgent(list.rows, height - 1)
  return [
    ...shown.map((row) => rowLine(list, row, paint, width)),
    ...(shown.length < list.rows.length ? [truncate(`  … and ${countStates(list.rows, shown)}`, width)] : []),
    summaryLine(list, paint, width),
  ]
}

/** What stays in the end: failures in full, the others where there is room for all of them. */
export function finalLines(list: ProgressList, paint: Paint, height: number): string[] {
  const { rows } = list
  if (rows.length === 0 && list.stack.message === '') return []
  const shown = rows.length < height ? rows : rows.filter(({ state }) => state === 'failed')
  return [...shown.map((row) => rowLine(list, row, paint, Infinity)), summaryLine(list, paint, Infinity)]
}

/** `waiting for etcd · 3 of 8 done` */
export function summaryText({ rows, stack }: ProgressList): string {
  const done = rows.filter(({ state }) => state === 'ready').length
  const count = rows.length === 0 ? '' : `${done} of ${rows.length} done`
  return [stack.message, count].filter((part) => part !== '').join(' · ')
}

function rowLine(list: ProgressList, row: ProgressRow, paint: Paint, width: number): string {
  const { machine, state, message, startMs, endMs } = row
  const longest = list.rows.reduce((most, { machine }) => Math.max(most, machine.length), 0)
  const nameWidth = Math.min(longest, Math.floor(width / 2))
  const name = truncate(printable(machine), nameWidth).padEnd(nameWidth)
  const time = startMs === undefined ? '' : `  ${formatElapsed((endMs ?? list.nowMs) - startMs)}`
  const room = width - '✓ '.length - nameWidth - '  '.length - time.length
  const text = truncate(printable(message), room)
  const style = TEXT_STYLES[state]
  return `${signOf(state, list, paint)} ${name}  ${style === undefined ? text : paint(style, text)}${paint('dim', time)}`
}

function summaryLine(list: ProgressList, paint: Paint, width: number): string {
  const text = [summaryText(list), formatElapsed(list.nowMs - list.startMs)].filter((part) => part !== '').join(' · ')
  return `${signOf(stateOfWhole(list), list, paint)} ${truncate(printable(text), width - '✓ '.length)}`
}

function stateOfWhole({ rows, stack, isOver }: ProgressList): ProgressRow['state'] {
  if (stack.state === 'failed' || rows.some(({ state }) => state === 'failed')) return 'failed'
  if (!isOver) return stack.state
  return rows.every(({ state }) => state === 'ready') ? 'ready' : 'waiting'
}

function signOf(state: ProgressRow['state'], { startMs, nowMs, isOver }: ProgressList, paint: Paint): string {
  const frame = Math.floor((nowMs - startMs) / FRAME_MS) % SPINNER.length
  const working = isOver ? '·' : SPINNER[frame]
  return paint(STYLES[state], { waiting: '·', working, ready: '✓', failed: '✗' }[state])
}

/** In their order; one line is kept for counting the others. */
function mostUrgent(rows: readonly ProgressRow[], room: number): readonly ProgressRow[] {
  if (rows.length <= room) return rows
  const urgent = rows.toSorted((a, b) => URGENCY.indexOf(a.state) - URGENCY.indexOf(b.state))
  const chosen = new Set(urgent.slice(0, Math.max(0, room - 1)))
  return rows.filter((row) => chosen.has(row))
}

/** `12 more: 2 waiting, 10 ready` */
function countStates(rows: readonly ProgressRow[], shown: readonly ProgressRow[]): string {
  const seen = new Set(shown)
  const rest = rows.filter((row) => !seen.has(row))
  const counts = URGENCY.map((state) => ({ state, count: rest.filter((row) => row.state === state).length }))
  const words = counts.filter(({ count }) => count > 0).map(({ state, count }) => `${count} ${state}`)
  return `${rest.length} more: ${words.join(', ')}`
}
