// One machine as it should be beside the machine as it is: what differs, why, and what that takes. Of files with secrets,
// only lines that are the same in both, or new ones with their secrets hidden, are ever shown.

import { isDeepStrictEqual } from 'node:util'
import { diffLines } from '../lib/diff.ts'
import { type Content, hasSecrets, reveal, show } from '../machine/content.ts'
import type { Machine, MachineFile, OnChange, Service } from '../machine/machine.ts'
import { isStartedAlike } from '../machine/started-alike.ts'
import type { ExistingFile, ExistingMachine, HardwareChange, MachineState } from '../targets/target.ts'
import { describePem, isPem } from './describe-pem.ts'
import type { Detail, DetailReason, DiffLine, Effect, MachinePlan } from './plan.ts'

const HIDDEN_LINE = '(not shown: the file has secrets)'

/** From the weakest to the strongest. */
const EFFECTS: readonly Effect[] = ['none', 'next start', 'reload', 'restart', 'start', 'replace', 'remove']

/** For people; where a detail has more to say, its own words take their place. */
const REASONS: Readonly<Record<DetailReason, string>> = {
  new: 'new',
  missing: 'missing',
  rights: 'owner or mode differs',
  content: 'content differs',
  replaced: 'replaced',
  unused: 'no longer part of the machine',
  left: 'no longer in the stack file',
  moved: 'address changed',
  hardware: 'hardware differs',
  'started-otherwise': 'its command line or environment changed',
  'stopped-otherwise': 'the way it is stopped changed',
  unread: 'has not read its new files yet',
  'not-running': 'not running',
  parameter: 'needs a restart',
  unusable:
    'PostgreSQL does not start with it; copied from the primary; the old data is kept, except without room after a failed pg_rewind',
}

export interface CompareOptions {
  /** Where owners cannot be set, they are not compared. */
  readonly withOwners: boolean
  /** Lines of new files as they are shown, kept from machine to machine: those of a kind share most of their files. */
  readonly shown?: WeakMap<Content, readonly DiffLine[]>
  /** As the target tells it. */
  readonly hardware?: readonly HardwareChange[]
}

export function compareMachine(
  machine: Machine,
  existing: ExistingMachine | undefined,
  state: MachineState | undefined,
  { withOwners, shown, hardware = [] }: CompareOptions,
): MachinePlan {
  const { name, kind, address } = machine
  if (existing === undefined)
    return { machine: name, kind, address, action: 'create', effect: 'start', details: created(machine, shown) }
  const details = [
    ...hardware.map(hardwareDetail),
    ...moved(machine, existing),
    ...directories(machine, existing, withOwners),
    ...machine.files.flatMap((file) => compareFile(file, existing.files.get(file.path), machine.services, withOwners)),
    ...[...existing.files.keys()]
      .filter((path) => !machine.files.some((file) => file.path === path))
      .map((path) => detail('file', path, 'remove', 'unused', 'none')),
    ...services(machine, existing, state),
  ]
  const effect = strongest(details)
  const action = details.length === 0 ? 'none' : effect === 'replace' ? 'replace' : 'update'
  const keepsData = existing.hasDataDisk === true && !hardware.some((change) => MOVES_DATA.includes(change.name))
  const hasLostData = existing.hasDataDisk !== true && hardware.some(({ losesData }) => losesData === true)
  return {
    ...{ machine: name, kind, address, action, effect, details },
    ...(action === 'replace' && { keepsData }),
    ...(hasLostData && { hasLostData }),
  }
}

/** The plan of a machine with more to do. */
export function withDetails(plan: MachinePlan, more: readonly Detail[]): MachinePlan {
  if (more.length === 0) return plan
  const details = [...plan.details, ...more]
  const action = plan.action === 'none' ? 'update' : plan.action
  return { ...plan, action, details, effect: strongest(details) }
}

/** Variables that lead to another disk, or to the same one from elsewhere. */
const MOVES_DATA: readonly string[] = ['data_volume_id', 'hypervisor']

const TAKES = { live: 'none', 'next start': 'next start', replace: 'replace' } as const

function hardwareDetail({ name, from, to, takes, why }: HardwareChange): Detail {
  const diff: DiffLine[] = [
    { sign: '-', text: from },
    { sign: '+', text: to },
  ]
  return { ...detail('hardware', name, 'change', 'hardware', TAKES[takes], diff), why }
}

/** A machine that the stack file has no longer. */
export function removedMachine({ name, kind, address }: ExistingMachine): MachinePlan {
  return {
    machine: name,
    kind,
    address,
    action: 'delete',
    effect: 'remove',
    details: [detail('member', name, 'remove', 'left', 'remove')],
  }
}

function created({ files, services }: Machine, shown: CompareOptions['shown']): Detail[] {
  const linesOf = (content: Content) => {
    const lines = shown?.get(content) ?? addedLines(content)
    shown?.set(content, lines)
    return lines
  }
  return [
    ...files.map(({ path, content }) => detail('file', path, 'add', 'new', 'start', linesOf(content))),
    ...services.map((service) => detail('service', service.name, 'add', 'new', 'start')),
  ]
}

function moved({ address }: Machine, existing: ExistingMachine): Detail[] {
  if (address === existing.address) return []
  const diff: DiffLine[] = [
    { sign: '-', text: existing.address },
    { sign: '+', text: address },
  ]
  return [detail('settings', 'address', 'change', 'moved', 'restart', diff)]
}

function directories({ directories }: Machine, existing: ExistingMachine, withOwners: boolean): Detail[] {
  return directories.flatMap(({ path, owner, mode }) => {
    const now = existing.directories.get(path)
    if (now === undefined) return [detail('directory', path, 'add', 'missing', 'none')]
    const why = rightsDiffer(now, { owner, mode }, withOwners)
    return why === undefined ? [] : [{ ...detail('directory', path, 'change', 'rights', 'none'), why }]
  })
}

function compareFile(
  file: MachineFile,
  now: ExistingFile | undefined,
  services: readonly Service[],
  withOwners: boolean,
): Detail[] {
  const effect = effectOf(file.onChange, services)
  const restarted = (each: Detail) => withHostService(each, readerOf(file.onChange, services))
  const { path, content, isInitial = false } = file
  if (now === undefined) return [restarted(detail('file', path, 'add', 'missing', effect, addedLines(content)))]
  const rights = rightsDiffer(now, file, withOwners)
  if (isInitial || reveal(content) === now.text)
    return rights === undefined ? [] : [{ ...detail('file', path, 'change', 'rights', 'none'), why: rights }]
  if (isPem(now.text)) {
    const diff = changedPem(now.text, content)
    return [restarted(detail('certificate', path, 'change', 'replaced', effect, diff))]
  }
  const diff = changedLines(now.text, content)
  return [restarted(detail('file', path, 'change', 'content', effect, diff))]
}

/** The service that has to read it. */
function readerOf(onChange: OnChange, services: readonly Service[]): Service | undefined {
  return onChange === 'nothing' ? undefined : services.find(({ name }) => Object.values(onChange).includes(name))
}

function withHostService(detail: Detail, service: Service | undefined): Detail {
  const isNamed = detail.effect === 'restart' && service?.isOfHost === true
  return isNamed ? { ...detail, hostService: service.name } : detail
}

/** A step that is done again disturbs no service. */
function services(machine: Machine, existing: ExistingMachine, state: MachineState | undefined): Detail[] {
  const before = new Map(existing.services.map((service) => [service.name, service]))
  const wanted = machine.services.flatMap((service) => {
    const old = before.get(service.name)
    before.delete(service.name)
    if (old === undefined) return [detail('service', service.name, 'add', 'new', 'start')]
    const again = (effect: Effect) => (service.once === true ? 'none' : effect)
    if (!isDeepStrictEqual(definition(old), definition(service))) {
      const diff = definitionDiff(old, service)
      if (isStartedAlike(old, service))
        return [detail('service', service.name, 'change', 'stopped-otherwise', 'none', diff)]
      return [
        withHostService(
          detail('service', service.name, 'change', 'started-otherwise', again('restart'), diff),
          service,
        ),
      ]
    }
    const late = existing.pending.get(service.name)
    if (late !== undefined)
      return [withHostService(detail('service', service.name, 'change', 'unread', again(late)), service)]
    const isStopped = (state?.services.get(service.name)?.state ?? 'stopped') === 'stopped'
    return isStopped ? [detail('service', service.name, 'change', 'not-running', 'start')] : []
  })
  const gone = [...before.keys()].map((name) => detail('service', name, 'remove', 'unused', 'none'))
  return [...wanted, ...gone]
}

/** Fields that are not there and fields that are undefined mean the same. */
function definition(service: Service): unknown {
  return JSON.parse(JSON.stringify(service))
}

function definitionDiff(old: Service, now: Service): DiffLine[] {
  return diffLines(JSON.stringify(old, undefined, 2), JSON.stringify(now, undefined, 2))
}

function rightsDiffer(
  now: { readonly owner: string; readonly mode: number },
  wanted: { readonly owner: string; readonly mode: number },
  withOwners: boolean,
): string | undefined {
  if (now.mode !== wanted.mode) return `mode is ${octal(now.mode)}, expected ${octal(wanted.mode)}`
  if (withOwners && now.owner !== wanted.owner) return `owner is ${now.owner}, expected ${wanted.owner}`
  return undefined
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

function addedLines(content: Content): DiffLine[] {
  const text = show(content)
  if (isPem(text)) return describePem(text).map((line) => ({ sign: '+', text: line }))
  return lines(text).map((line) => ({ sign: '+', text: line }))
}

function changedPem(before: string, content: Content): DiffLine[] {
  const old = describePem(before)
  const after = show(content)
  const now = isPem(after) ? describePem(after) : lines(after)
  const diff = diffLines(old.join('\n'), now.join('\n'))
  if (diff.length > 0) return diff
  return [...old.map((text) => ({ sign: '-' as const, text })), ...now.map((text) => ({ sign: '+' as const, text }))]
}

/** What was in a file with secrets may be an old secret: only lines that it has in common with the new text are safe. */
function changedLines(before: string, content: Content): DiffLine[] {
  if (!hasSecrets(content)) return diffLines(before, reveal(content))
  const revealed = lines(reveal(content))
  const shown = lines(show(content))
  if (shown.length !== revealed.length) return [{ sign: '+', text: HIDDEN_LINE }]
  const safe = new Map(revealed.map((line, index) => [line, shown[index]]))
  const masked = lines(before).map((line) => safe.get(line) ?? HIDDEN_LINE)
  const diff = diffLines(masked.join('\n'), shown.join('\n'))
  // The same masked lines on both sides: it is the secret that changed.
  return diff.length > 0 ? diff : [{ sign: '+', text: 'a secret changed' }]
}

function lines(text: string): string[] {
  return text.replace(/\n$/u, '').split('\n')
}

/** A step that is done again disturbs no service. */
function effectOf(onChange: OnChange, services: readonly Service[]): Effect {
  if (onChange === 'nothing') return 'none'
  if ('reload' in onChange) return 'reload'
  return services.some(({ name, once }) => name === onChange.restart && once) ? 'none' : 'restart'
}

function strongest(details: readonly Detail[]): Effect {
  return EFFECTS[Math.max(0, ...details.map(({ effect }) => EFFECTS.indexOf(effect)))]
}

export function detail(
  what: Detail['what'],
  name: string,
  change: Detail['change'],
  reason: DetailReason,
  effect: Effect,
  diff: readonly DiffLine[] = [],
): Detail {
  return { what, name, change, reason, why: REASONS[reason], effect, diff }
}
