// A plan for people: what would be made, changed and removed, why, and what that interrupts. However many machines there
// are, it stays as long as the differences between them.

import { basename } from 'node:path'
import type { MachineKind } from '../machine/machine.ts'
import { type Detail, type Effect, isEmpty, type MachinePlan, type Plan } from '../stack/plan.ts'
import { painter, type Style } from './colour.ts'
import { groupAlike, type PlanGroup } from './plan-groups.ts'
import { printable, truncate } from './table.ts'

export interface PlanTextOptions {
  readonly colour: boolean
  /** Lines are cut to it. */
  readonly width?: number | undefined
  /** Whole files, every detail and every machine. */
  readonly verbose?: boolean
}

/** A line with how much of it, from its start, has the style. */
interface Line {
  readonly text: string
  readonly style?: Style
  readonly styled?: number
}

/** More than these are counted, unless verbose. */
const MOST_MACHINES = 6
const MOST_DETAILS = 20
const MOST_DIFF_LINES = 40

const SIGNS = {
  create: '+',
  add: '+',
  update: '~',
  change: '~',
  replace: '±',
  delete: '-',
  remove: '-',
  none: ' ',
} as const
const STYLES = { '+': 'green', '~': 'yellow', '±': 'red', '-': 'red', ' ': 'dim' } as const

const EFFECT_WORDS: Readonly<Record<Effect, string>> = {
  ...{ none: 'nothing', reload: 'reload', restart: 'restart', start: 'start', remove: 'remove' },
  'next start': 'from its next start on',
  replace: 'made anew',
}

const SERVICES: Readonly<Record<MachineKind, string>> = {
  etcd: 'etcd',
  dns: 'the name server',
  postgres: 'PostgreSQL',
  haproxy: 'HAProxy',
}

export function formatPlan(plan: Plan, options: PlanTextOptions): string {
  const { stack, file } = plan
  if (isEmpty(plan)) return `No changes: ${printable(stack)} is as ${printable(basename(file))} says\n`
  const changed = plan.machines.filter(({ action }) => action !== 'none')
  const groups = groupAlike(changed, (machine) => detailLines(machine, options))
  const columns = {
    name: Math.max(...changed.map(({ machine }) => machine.length)),
    address: Math.max(...changed.map(({ address }) => address.length)),
  }
  const lines = [
    { text: `Plan for ${stack}, from ${file}` },
    ...groups.flatMap((group) => [{ text: '' }, ...groupLines(group, columns, options)]),
    { text: '' },
    { text: summary(changed) },
  ]
  return lines.map((line) => `${formatLine(line, options)}\n`).join('')
}

function formatLine(
  { text, style, styled = text.length }: Line,
  { colour, width = Infinity }: PlanTextOptions,
): string {
  const shown = truncate(printable(text), width)
  return style === undefined ? shown : painter(colour)(style, shown.slice(0, styled)) + shown.slice(styled)
}

interface Columns {
  readonly name: number
  readonly address: number
}

function groupLines(
  { machines, lines, isExact }: PlanGroup<Line>,
  columns: Columns,
  { verbose }: PlanTextOptions,
): Line[] {
  const shown = verbose ? machines : firstOf(machines, MOST_MACHINES)
  const sample = isExact ? '' : `, as here on ${machines[0].machine}`
  return [
    ...shown.map((machine) => machineLine(machine, columns)),
    ...remark('  ', machines.length - shown.length, (rest) => `… and ${rest} more like them`),
    ...(lines.length === 0 ? [] : remark('  ', machines.length - 1, () => `on each of them${sample}:`)),
    ...lines,
  ]
}

/** A line about so many, where there are any. */
function remark(indent: string, number: number, words: (number: number) => string): Line[] {
  return number === 0 ? [] : [{ text: `${indent}${words(number)}`, style: 'dim' }]
}

function machineLine({ machine, address, action, effect, kind }: MachinePlan, columns: Columns): Line {
  const words = {
    none: 'interrupts nothing',
    'next start': 'interrupts nothing; some of it from its next start on',
    reload: 'reload only',
    restart: `restarts ${SERVICES[kind]}`,
    start: `starts ${SERVICES[kind]}`,
    replace: `made anew, in its turn`,
    remove: `stops ${SERVICES[kind]}; removed with its data`,
  }
  const sign = SIGNS[action]
  const name = `${sign} ${machine.padEnd(columns.name)}`
  const text = `${name}  ${address.padEnd(columns.address)}  ${words[effect]}`
  return { text, style: STYLES[sign], styled: name.length }
}

function detailLines({ details, action }: MachinePlan, options: PlanTextOptions): Line[] {
  const shown = options.verbose ? details : firstOf(details, MOST_DETAILS)
  return [
    ...shown.flatMap((detail) => [detailLine(detail, action), ...diffOf(detail, options)]),
    ...remark('    ', details.length - shown.length, (rest) => `… and ${rest} more; --verbose shows them`),
  ]
}

function detailLine({ what, name, change, why, effect, diff }: Detail, action: MachinePlan['action']): Line {
  const start = `    ${SIGNS[change]} `
  const size = what === 'file' && change === 'add' && diff.length > 0 ? ` (${count(diff.length, 'line')})` : ''
  // A new machine starts as a whole, and what is new needs no reason.
  const remarks = [
    ...(change === 'add' && why === 'new' ? [] : [why]),
    ...(action === 'update' && effect !== 'none' ? [EFFECT_WORDS[effect]] : []),
    ...(action === 'replace' && effect === 'replace' ? ['has to be made anew'] : []),
  ]
  const reason = remarks.length === 0 ? '' : `: ${remarks.join(', ')}`
  const text = `${start}${what === 'settings' || what === 'hardware' ? '' : `${what} `}${name}${size}${reason}`
  return { text, style: STYLES[SIGNS[change]], styled: start.length }
}

/** What is new or gone is not shown line by line. */
function diffOf({ change, diff }: Detail, { verbose }: PlanTextOptions): Line[] {
  if (change !== 'change' && !verbose) return []
  const shown = verbose ? diff : firstOf(diff, MOST_DIFF_LINES)
  return [
    ...shown.map(({ sign, text }) => ({ text: `        ${sign} ${text}`.trimEnd(), style: STYLES[sign] })),
    ...remark(
      '        ',
      diff.length - shown.length,
      (rest) => `… and ${count(rest, 'more line')}; --verbose shows them`,
    ),
  ]
}

/** The last one that fits is not given up for a line that says there is one more. */
function firstOf<T>(list: readonly T[], most: number): readonly T[] {
  return list.length <= most + 1 ? list : list.slice(0, most)
}

function summary(changed: readonly MachinePlan[]): string {
  const having = (test: (machine: MachinePlan) => boolean) => changed.filter(test).length
  const [create, update, replace, remove] = (['create', 'update', 'replace', 'delete'] as const).map((action) =>
    having((machine) => machine.action === action),
  )
  const restarts = having(({ effect }) => effect === 'restart')
  const anew = replace === 0 ? '' : `, ${replace} to make anew`
  return `${create} to create, ${update} to update${anew}, ${remove} to delete; ${count(restarts, 'restart')}`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
