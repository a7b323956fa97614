// The status of a stack for people: a table of its machines, its names, what is wrong, and what to try. What is wrong has
// lines of its own, so that a narrow terminal hides none of it.

import type { MachineError, MachineStatus, StackStatus } from '../stack/status.ts'
import { type Paint, painter } from './colour.ts'
import { formatAge, formatBytes, formatExpiry, HOUR_MS } from './status-units.ts'
import { type Cell, printable, tableLines } from './table.ts'
import { wrap } from './wrap.ts'

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

const STATE_STYLES = { ready: 'green', degraded: 'yellow', stopped: 'dim', down: 'red', absent: 'dim' } as const
const WARN_MS = 30 * 24 * HOUR_MS
const INDENT = '  '

const COLUMNS: readonly Column[] = [
  { title: 'MACHINE', cell: ({ machine }) => machine },
  { title: 'ADDRESS', cell: ({ address }) => address },
  { title: 'ROLE', cell: ({ role }) => role ?? '-' },
  { title: 'STATE', cell: ({ state }) => ({ text: state, style: STATE_STYLES[state] }) },
  { title: 'VERSION', cell: ({ version }) => version ?? '-' },
  { title: 'LAG', isNumber: true, cell: ({ lagBytes }) => (lagBytes === undefined ? '-' : formatBytes(lagBytes)) },
  { title: 'CERTIFICATE', cell: ({ certificateExpires }, now) => certificateCell(certificateExpires, now) },
  { title: 'RESTARTS', cell: restartsCell },
]
/** What a narrow terminal does without, in this order; a certificate that expires soon stays. */
const DISPENSABLE: readonly string[] = ['VERSION', 'CERTIFICATE', 'LAG', 'ADDRESS', 'ROLE']

export function formatStackStatus(status: StackStatus, options: StackStatusOptions): string {
  return statusLines(status, options)
    .map((line) => `${line}\n`)
    .join('')
}

export function statusLines(status: StackStatus, options: StackStatusOptions): string[] {
  const paint = painter(options.colour)
  const rest = [
    ...section(nameLines(status, paint, options)),
    ...section(problemLines(status, paint, options)),
    ...section(options.examples === true ? exampleLines(status, paint) : []),
  ]
  const head = headLines(status, paint, options)
  if (status.machines.length === 0) return [...head, ...rest]
  const room = options.height === undefined ? Infinity : options.height - head.length - 2 - rest.length
  return [...head, '', ...machineLines(status.machines, options, room), ...rest]
}

/** Apart from what is above it. */
function section(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', ...lines]
}

function headLines(status: StackStatus, paint: Paint, { now, width = Infinity }: StackStatusOptions): string[] {
  const { stack, state, stoppedAt, machines, file } = status
  const name = `${paint('bold', printable(stack))}: ${paint(STATE_STYLES[state], state)}`
  const ready = machines.filter((machine) => machine.state === 'ready').length
  const working = machines.filter((machine) => machine.state === 'ready' || machine.state === 'degraded').length
  const rest = {
    ready: `, ${machines.length} machines`,
    degraded:
      working === machines.length ? `, ${working} machines` : `, ${working} of ${machines.length} machines work`,
    down: `, ${ready} of ${machines.length} machines ready`,
    stopped: `${stoppedAt === undefined ? '' : ` ${formatAge(stoppedAt, now)} ago`} by "holdfast down", ${machines.length} machines; "holdfast up" starts it`,
    absent: `: it was never created, or was removed; "holdfast up ${file}" creates it`,
  }[state]
  // Broken between words, as it may hold a path; the styled beginning is short.
  const [first, ...more] = wrap(`${stack}: ${state}${rest}`, width)
  return [`${name}${first.slice(`${stack}: ${state}`.length)}`, ...more.map((line) => `${INDENT}${line}`)]
}

/** The problems of the stack, then those of machines that are not among them; each in full. */
function problemLines({ problems, machines }: StackStatus, paint: Paint, options: StackStatusOptions): string[] {
  const own = machines.flatMap((machine) => machineProblem(machine, options.now) ?? [])
  const told = own.filter(({ text }) => !problems.some((problem) => problem.endsWith(text)))
  const width = options.width ?? Infinity
  return [
    ...problems.map((text) => ({ text, style: 'red' as const })),
    ...told.map(({ machine, text, style }) => ({ text: `${machine}: ${text}`, style })),
  ].flatMap(({ text, style }) => {
    const [first, ...more] = wrap(printable(text), width - INDENT.length)
    return [first, ...more.map((line) => `${INDENT}${line}`)].map((line) => paint(style, line))
  })
}

/** What is wrong with it now, and how a service of it failed last. What is over is not shown for a machine that is ready. */
function machineProblem({ machine, state, problem, lastError }: MachineStatus, now: number) {
  const error =
    state !== 'down' || lastError === undefined
      ? []
      : [`${lastError.service}: ${lastError.message}${ageOf(lastError, now)}`]
  const parts = [...(problem === undefined ? [] : [problem]), ...error]
  if (parts.length === 0) return undefined
  return { machine, text: parts.join('; '), style: state === 'down' ? ('red' as const) : ('yellow' as const) }
}

function machineLines(machines: readonly MachineStatus[], options: StackStatusOptions, room: number): string[] {
  const { now, width, colour, highlighted = new Set() } = options
  const shown = mostUrgent(machines, highlighted, room)
  const rows = shown.map((machine) => COLUMNS.map(({ cell }) => cell(machine, now)))
  const isUrgent = machines.some(({ certificateExpires }) => expiresSoon(certificateExpires, now))
  const kept = fittingColumns(rows, width ?? Infinity, isUrgent ? ['CERTIFICATE'] : [])
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

/** Numbers of the columns that say something, as far as they fit next to each other. */
function fittingColumns(rows: readonly (readonly Cell[])[], width: number, important: readonly string[]): number[] {
  const widths = COLUMNS.map(({ title }, column) =>
    rows.reduce((most, row) => Math.max(most, textOf(row[column]).length), title.length),
  )
  const isEmpty = (column: number) => rows.every((row) => ['', '-'].includes(textOf(row[column])))
  let kept = COLUMNS.keys()
    .filter((column) => !isEmpty(column))
    .toArray()
  for (const title of DISPENSABLE.filter((each) => !important.includes(each))) {
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

/** When a service ended that no supervisor watched is not known. */
function ageOf({ kind, at }: MachineError, now: number): string {
  return kind === 'unwatched' ? '' : ` (${formatAge(at, now)} ago)`
}

/** `3 (2 min ago)` */
function restartsCell({ restarts, lastError }: MachineStatus, now: number): Cell {
  if (restarts === 0) return '-'
  return `${restarts}${lastError === undefined ? '' : ageOf(lastError, now)}`
}

function expiresSoon(expires: string | undefined, now: number): boolean {
  return expires !== undefined && Date.parse(expires) - now < WARN_MS
}

function certificateCell(expires: string | undefined, now: number): Cell {
  if (expires === undefined) return '-'
  const leftMs = Date.parse(expires) - now
  const text = formatExpiry(leftMs)
  if (leftMs <= 0) return { text, style: 'red' }
  return expiresSoon(expires, now) ? { text, style: 'yellow' } : text
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
