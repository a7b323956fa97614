// How a stack stands, for people: a table of its machines, its names, what is wrong, and what to try.

import type { MachineStatus, StackStatus } from '../stack/status.ts'
import { type Paint, painter } from './colour.ts'
import { formatBytes, formatExpiry, HOUR_MS } from './status-units.ts'
import { type Cell, printable, tableLines, truncate } from './table.ts'

export interface StackStatusOptions {
  readonly colour: boolean
  /** Unix milliseconds. */
  readonly now: number
  /** Of the terminal: what does not fit is left out, the least important first. */
  readonly width?: number | undefined
  readonly height?: number | undefined
  /** Whether to end with the lines to try. */
  readonly examples?: boolean
  /** Machines that have just changed. */
  readonly highlighted?: ReadonlySet<string>
}

interface Column {
  readonly title: string
  readonly isNumber?: boolean
  readonly cell: (machine: MachineStatus, now: number) => Cell
}

const STATE_STYLES = { ready: 'green', 'not ready': 'yellow', stopped: 'red' } as const
const WARN_MS = 30 * 24 * HOUR_MS
/** Room for an error that is worth its column. */
const ERROR_WIDTH = 20
/** The whole of it is in the JSON, and in the logs. */
const LONGEST_ERROR = 120

const COLUMNS: readonly Column[] = [
  { title: 'MACHINE', cell: ({ machine }) => machine },
  { title: 'ADDRESS', cell: ({ address }) => address },
  { title: 'ROLE', cell: ({ role }) => role ?? '-' },
  { title: 'STATE', cell: ({ state }) => ({ text: state, style: STATE_STYLES[state] }) },
  { title: 'VERSION', cell: ({ version }) => version ?? '-' },
  { title: 'LAG', isNumber: true, cell: ({ lagBytes }) => (lagBytes === undefined ? '-' : formatBytes(lagBytes)) },
  { title: 'CERTIFICATE', cell: ({ certificateExpires }, now) => certificateCell(certificateExpires, now) },
  { title: 'RESTARTS', isNumber: true, cell: ({ restarts }) => String(restarts) },
  { title: 'LAST ERROR', cell: ({ lastError }) => truncate(printable(lastError ?? ''), LONGEST_ERROR) },
]
/** What a narrow terminal does without, in this order. */
const DISPENSABLE: readonly string[] = ['VERSION', 'ADDRESS', 'RESTARTS', 'LAG', 'CERTIFICATE', 'LAST ERROR']

export function formatStackStatus(status: StackStatus, options: StackStatusOptions): string {
  return statusLines(status, options)
    .map((line) => `${line}\n`)
    .join('')
}

export function statusLines(status: StackStatus, options: StackStatusOptions): string[] {
  const paint = painter(options.colour)
  const rest = [
    ...section(nameLines(status, paint, options)),
    ...section(status.problems.map((problem) => paint('red', truncate(printable(problem), options.width ?? Infinity)))),
    ...section(options.examples === true ? exampleLines(status, paint) : []),
  ]
  const head = [headLine(status, paint), '']
  const room = options.height === undefined ? Infinity : options.height - head.length - 1 - rest.length
  return [...head, ...machineLines(status.machines, options, room), ...rest]
}

/** Apart from what is above it. */
function section(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', ...lines]
}

function headLine({ stack, isReady, isSupervised, machines }: StackStatus, paint: Paint): string {
  const state = isReady ? paint('green', 'ready') : paint('red', 'not ready')
  const supervisor = isSupervised ? '' : ', nothing looks after its processes'
  return `${paint('bold', printable(stack))}: ${state}, ${machines.length} machines${supervisor}`
}

function machineLines(machines: readonly MachineStatus[], options: StackStatusOptions, room: number): string[] {
  const { now, width, colour, highlighted = new Set() } = options
  const shown = mostUrgent(machines, highlighted, room)
  const rows = shown.map((machine) => COLUMNS.map(({ cell }) => cell(machine, now)))
  const kept = fittingColumns(rows, width ?? Infinity)
  const [heading, ...lines] = tableLines(
    kept.map((column) => COLUMNS[column].title),
    rows.map((row) => kept.map((column) => row[column])),
    { right: COLUMNS.filter(({ isNumber }) => isNumber).map(({ title }) => title), paint: painter(colour), width },
  )
  const more = machines.length - shown.length
  return [
    heading,
    ...lines.map((line, at) => (highlighted.has(shown[at].machine) ? painter(colour)('inverse', line) : line)),
    ...(more > 0 ? [`… and ${more} more: ${countStates(machines, shown)}`] : []),
  ]
}

/** Numbers of the columns that say something, as far as they fit beside each other. */
function fittingColumns(rows: readonly (readonly Cell[])[], width: number): number[] {
  const widths = COLUMNS.map(({ title }, column) => {
    const widest = rows.reduce((most, row) => Math.max(most, textOf(row[column]).length), title.length)
    return title === 'LAST ERROR' ? Math.min(ERROR_WIDTH, widest) : widest
  })
  const isEmpty = (column: number) => rows.every((row) => ['', '-'].includes(textOf(row[column])))
  let kept = COLUMNS.keys()
    .filter((column) => !isEmpty(column))
    .toArray()
  for (const title of DISPENSABLE) {
    if (kept.reduce((sum, column) => sum + widths[column] + 2, -2) <= width) break
    kept = kept.filter((column) => COLUMNS[column].title !== title)
  }
  return kept
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

/** In their order: those that changed or are not ready before others; one line is kept for counting the rest. */
function mostUrgent(
  machines: readonly MachineStatus[],
  highlighted: ReadonlySet<string>,
  room: number,
): readonly MachineStatus[] {
  if (machines.length <= room) return machines
  const urgency = ({ machine, state }: MachineStatus) => (highlighted.has(machine) ? 0 : state === 'ready' ? 2 : 1)
  const chosen = new Set(machines.toSorted((a, b) => urgency(a) - urgency(b)).slice(0, Math.max(1, room - 1)))
  return machines.filter((machine) => chosen.has(machine))
}

/** `970 ready, 2 stopped`, of those that are not shown. */
function countStates(machines: readonly MachineStatus[], shown: readonly MachineStatus[]): string {
  const seen = new Set(shown)
  const rest = Map.groupBy(
    machines.filter((machine) => !seen.has(machine)),
    ({ state }) => state,
  )
  return [...rest].map(([state, members]) => `${members.length} ${state}`).join(', ')
}

function certificateCell(expires: string | undefined, now: number): Cell {
  if (expires === undefined) return '-'
  const leftMs = Date.parse(expires) - now
  const text = formatExpiry(leftMs)
  if (leftMs <= 0) return { text, style: 'red' }
  return leftMs < WARN_MS ? { text, style: 'yellow' } : text
}

/** At most a third of a terminal: the machines matter more. */
function nameLines({ names }: StackStatus, paint: Paint, { width, height = Infinity }: StackStatusOptions): string[] {
  if (names.length === 0) return []
  const rows = names
    .slice(0, Math.max(2, Math.floor(height / 3)))
    .map(({ name, addresses }): Cell[] => [
      name,
      addresses.length === 0 ? { text: 'no answer', style: 'red' } : addresses.join(', '),
    ])
  const more = names.length - rows.length
  return [...tableLines(['NAME', 'ANSWER'], rows, { paint, width }), ...(more > 0 ? [`… and ${more} more`] : [])]
}

/** Never cut: they are there to be copied. */
export function exampleLines({ examples }: StackStatus, paint: Paint): string[] {
  const longest = examples.reduce((most, { purpose }) => Math.max(most, purpose.length), 0)
  return examples.map(({ purpose, command }) => `${paint('dim', purpose.padEnd(longest))}  ${printable(command)}`)
}
