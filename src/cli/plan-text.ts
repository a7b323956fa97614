// A plan for people: what would be made, changed and removed, why, and what that interrupts. However many machines there
// are, it stays as long as the differences between them.

import { basename } from 'node:path'
import type { MachineKind } from '../machine/machine.ts'
import {
  type Detail,
  type Effect,
  isEmpty,
  type MachinePlan,
  type Plan,
  type PlannedHardware,
  restartsCluster,
} from '../stack/plan.ts'
import { painter, type Style } from './colour.ts'
import { groupAlike, type PlanGroup } from './plan-groups.ts'
import { printable, truncate } from './table.ts'

type PlannedRestart = Plan['restarts'][number]

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
  /** Not cut to the width. */
  readonly isWhole?: boolean
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
  const remarks = plan.remarks.map(
    (text): Line => ({
      ...{ text: `Note: ${text}`, style: 'yellow', styled: 'Note:'.length, isWhole: true },
    }),
  )
  if (isEmpty(plan)) {
    const text = `No changes. ${stack} matches ${basename(file)}`
    return [{ text }, ...remarks].map((line) => `${formatLine({ ...line, isWhole: true }, options)}\n`).join('')
  }
  const changed = plan.machines.filter(({ action }) => action !== 'none')
  const effects = new Map(changed.map((each) => [each.machine, effectWords(each, plan.restarts)]))
  const wordsOf = ({ machine }: MachinePlan) => effects.get(machine) ?? ''
  const primary = plan.restarts.find(({ isPrimary }) => isPrimary)?.machine
  const groups = groupAlike(
    changed,
    (machine) => detailLines(machine, options),
    (each) => `${wordsOf(each)}${each.machine === primary || each.handsOver === true}`,
  )
  const columns = {
    name: Math.max(0, ...changed.map(({ machine }) => machine.length)),
    address: Math.max(0, ...changed.map(({ address }) => address.length)),
  }
  const headOf = (each: MachinePlan) => [machineLine(each, columns, wordsOf(each)), ...ownLines(each, plan.restarts)]
  const lines = [
    { text: `Plan for ${stack}, from ${file}` },
    ...groups.flatMap((group) => [{ text: '' }, ...groupLines(group, headOf, options)]),
    ...credentialLines(plan.credentials),
    { text: '' },
    ...remarks,
    { text: summary(changed, plan.restarts) },
  ]
  return lines.map((line) => `${formatLine(line, options)}\n`).join('')
}

function credentialLines(credentials: Plan['credentials']): Line[] {
  if (credentials.length === 0) return []
  const lines = credentials.map(({ id, what, why }): Line => {
    return { text: `~ ${what} ${id}: ${why}; issued by "up"`, style: 'yellow', styled: 1 }
  })
  return [{ text: '' }, ...lines]
}

function formatLine(
  { text, style, styled = text.length, isWhole = false }: Line,
  { colour, width = Infinity }: PlanTextOptions,
): string {
  const shown = truncate(printable(text), isWhole ? Infinity : width)
  return style === undefined ? shown : painter(colour)(style, shown.slice(0, styled)) + shown.slice(styled)
}

interface Columns {
  readonly name: number
  readonly address: number
}

function groupLines(
  { machines, lines, isExact }: PlanGroup<Line>,
  headOf: (machine: MachinePlan) => readonly Line[],
  { verbose }: PlanTextOptions,
): Line[] {
  const shown = verbose ? machines : firstOf(machines, MOST_MACHINES)
  const sample = isExact ? '' : `, as here on ${machines[0].machine}`
  return [
    ...shown.flatMap(headOf),
    ...remark('  ', machines.length - shown.length, (rest) => `… and ${rest} more like them`),
    ...(lines.length === 0 ? [] : remark('  ', machines.length - 1, () => `on each of them${sample}:`)),
    ...lines,
  ]
}

/** A line about so many, where there are any. */
function remark(indent: string, number: number, words: (number: number) => string): Line[] {
  return number === 0 ? [] : [{ text: `${indent}${words(number)}`, style: 'dim' }]
}

function machineLine({ machine, address, action }: MachinePlan, columns: Columns, words: string): Line {
  const sign = SIGNS[action]
  const name = `${sign} ${machine.padEnd(columns.name)}`
  const text = `${name}  ${address.padEnd(columns.address)}  ${words}`
  return { text, style: STYLES[sign], styled: name.length }
}

/** What it means for the services of the machine. */
function effectWords({ machine, effect, kind, details }: MachinePlan, restarts: readonly PlannedRestart[]): string {
  const own = restarts.filter((restart) => restart.machine === machine)
  const words = {
    none: 'interrupts nothing',
    'next start': 'interrupts nothing; some of it from its next start on',
    reload: 'reload only',
    restart: `restarts ${restartedServices(kind, details)}`,
    start: `starts ${SERVICES[kind]}`,
    replace: `made anew, in its turn`,
    remove: `stops ${SERVICES[kind]}; removed with its data`,
  }
  if (own.length === 0) return words[effect]
  const parameters = [...new Set(own.flatMap((each) => each.parameters))].join(', ')
  const why = parameters === '' ? '(pending)' : `(${parameters})`
  const isRestarted = details.some(restartsCluster)
  const count = own.length + Number(isRestarted)
  const times = count === 1 ? '' : count === 2 ? ' twice' : ` ${count} times`
  const isStarted = effect === 'start' || effect === 'replace'
  const restart = isStarted ? `${words[effect]}, then restarts it` : `restarts ${SERVICES[kind]}`
  const removal = effect === 'remove' ? ', then stops it; removed with its data' : ''
  return `${restart}${times} ${why}${removal}`
}

/** Those of the machine itself are named only where they are all: they interrupt nothing. */
function restartedServices(kind: MachineKind, details: readonly Detail[]): string {
  const names = new Set(details.flatMap(({ hostService }) => hostService ?? []))
  return names.size === 0 || details.some(restartsCluster) ? SERVICES[kind] : [...names].join(', ')
}

/** Lines of a machine that others of its group do not have: never cut, as they say what is lost or made. */
function ownLines(
  { machine, action, hardware, handsOver = false }: MachinePlan,
  restarts: readonly PlannedRestart[],
): Line[] {
  const primary = restarts.find((each) => each.machine === machine && each.isPrimary === true)
  const pause =
    handsOver || primary?.how === 'switchover'
      ? 'it is the primary: a standby takes over first, writes pause meanwhile'
      : 'it is the primary: writes pause until it is back'
  return [
    ...(hardware === undefined ? [] : [hardwareWords(hardware, action === 'replace')]),
    ...(primary === undefined && !handsOver ? [] : [pause]),
  ].map((text) => ({ text: `    ${text}`, isWhole: true }))
}

function hardwareWords({ domain, hypervisor, vcpus, memoryMib, disks, networks }: PlannedHardware, isAgain: boolean) {
  const memory = memoryMib % 1024 === 0 ? `${memoryMib / 1024} GiB` : `${memoryMib} MiB`
  const parts = [count(vcpus, 'vCPU'), `${memory} memory`, ...disks, ...networks]
  return `${isAgain ? 'recreated' : 'new'} VM ${domain} on ${hypervisor}: ${parts.join(', ')}`
}

function detailLines({ details, action }: MachinePlan, options: PlanTextOptions): Line[] {
  const shown = options.verbose ? details : firstOf(details, MOST_DETAILS)
  return [
    ...shown.flatMap((detail) => [detailLine(detail, action), ...diffOf(detail, options)]),
    ...remark('    ', details.length - shown.length, (rest) => `… and ${rest} more; --verbose shows them`),
  ]
}

function detailLine(
  { what, name, change, reason: kind, why, effect, diff }: Detail,
  action: MachinePlan['action'],
): Line {
  const start = `    ${SIGNS[change]} `
  const size = what === 'file' && change === 'add' && diff.length > 0 ? ` (${count(diff.length, 'line')})` : ''
  // A new machine starts as a whole, and what is new needs no reason.
  const remarks = [
    ...(kind === 'new' ? [] : [why]),
    ...(action === 'update' && effect !== 'none' && what !== 'parameter' ? [EFFECT_WORDS[effect]] : []),
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

function summary(changed: readonly MachinePlan[], planned: readonly PlannedRestart[]): string {
  const having = (test: (machine: MachinePlan) => boolean) => changed.filter(test).length
  const [create, update, replace, remove] = (['create', 'update', 'replace', 'delete'] as const).map((action) =>
    having((machine) => machine.action === action),
  )
  const isRestarted = ({ details }: MachinePlan) =>
    details.some(({ what, effect }) => what !== 'parameter' && effect === 'restart')
  const restarts = planned.length + having((each) => each.effect !== 'replace' && isRestarted(each))
  const leaving = planned.filter(({ how }) => how === 'switchover').map(({ machine }) => machine)
  const handing = changed.filter(({ handsOver }) => handsOver === true).map(({ machine }) => machine)
  const switchovers = new Set([...leaving, ...handing]).size
  const more = switchovers === 0 ? '' : `, ${count(switchovers, 'switchover')}`
  const anew = replace === 0 ? '' : `, ${replace} to make anew`
  return `${create} to create, ${update} to update${anew}, ${remove} to delete; ${count(restarts, 'restart')}${more}`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
