// `holdfast zone put`: stores zones in etcd. Everything is read, checked and compared before the first is stored, and
// a zone is stored only if nobody changed it since it was looked at: a transaction compares the revisions.

import { HoldfastError } from '../lib/errors.ts'
import { countRecords } from '../zone/count-records.ts'
import { command, type Io } from './command.ts'
import { EXIT } from './exit-code.ts'
import { diffJson, diffZones, printDiff, summarize } from './zone-changes.ts'
import { printable } from './table.ts'
import { type InputZone, checkText, printProblems, readInput } from './zone-input.ts'
import { planZone, type ZonePlan } from './zone-plan.ts'
import {
  keyName,
  parseOrigin,
  type StoredZone,
  withZoneStore,
  ZONE_FLAGS,
  zoneJson,
  type ZoneStore,
} from './zone-store.ts'

/** etcd's own limits, unless it was started with others: operations and bytes of one transaction. */
const MOST_ZONES = 128
const MOST_BYTES = 1_000_000

export const zonePutCommand = command({
  name: 'zone put',
  summary: 'Check zone files, show changes, and store them in etcd',
  usage: 'FILE... [--origin NAME] | ORIGIN -',
  positionals: ['FILE...'],
  options: {
    origin: { value: 'NAME', summary: 'the zone; otherwise its file says it, as with "zone check"' },
    'bump-serial': { summary: 'write a newer serial into what is stored when records change and the file has none' },
    'expect-revision': {
      value: 'N',
      summary: 'store only if the zone still has the revision that "zone get --json" gave; 0: only if there is none',
    },
    'dry-run': { summary: 'show what would change and store nothing' },
    json: { summary: 'print one JSON object for each zone' },
    ...ZONE_FLAGS,
  },
  async run({ positionals, options }, io) {
    const inputs = await readInputs(positionals, options.origin, io)
    const expected = readRevision(options['expect-revision'], inputs)
    for (const input of inputs) printProblems(input, io)
    if (inputs.some(({ accepted }) => !accepted)) return EXIT.invalidInput
    return withZoneStore(options, io, async (store) => {
      const found = await store.find(inputs.map(({ origin }) => keyName(origin)))
      if (expected !== undefined) await requireRevision(store, inputs[0], found[0], expected, io)
      const bumpSerial = options['bump-serial']
      const plans = inputs.map((input, index) => planZone(input, found[index], store, { bumpSerial, now: new Date() }))
      const print = options.json ? printJson : printText
      for (const { input, warnings } of plans)
        for (const warning of warnings) io.stderr.write(`${printable(input.label)}: warning: ${warning}\n`)
      if (options['dry-run']) for (const plan of plans) print(plan, undefined, io)
      else await storeAll(store, plans, (plan, revision) => print(plan, revision, io), io)
      return EXIT.done
    })
  },
})

async function readInputs(positionals: readonly string[], origin: string | undefined, io: Io): Promise<InputZone[]> {
  const [first, second] = positionals
  if (positionals.length === 2 && second === '-' && origin === undefined)
    return [await readInput('-', parseOrigin(first), io)]
  if (origin !== undefined && positionals.length > 1)
    throw new HoldfastError('Usage', `Cannot put ${positionals.length} files as zone "${origin}": expected one file`)
  const inputs: InputZone[] = []
  for (const path of positionals)
    inputs.push(await readInput(path, origin === undefined ? undefined : parseOrigin(origin), io))
  const labels = new Map<string, string>()
  for (const input of inputs) {
    const name = keyName(input.origin)
    const other = labels.get(name)
    if (other !== undefined)
      throw new HoldfastError('Usage', `Cannot put zone "${name}" twice: from "${other}" and "${input.label}"`)
    labels.set(name, input.label)
  }
  return inputs
}

function readRevision(text: string | undefined, inputs: readonly InputZone[]): bigint | undefined {
  if (text === undefined) return undefined
  if (inputs.length > 1)
    throw new HoldfastError('Usage', 'Cannot use --expect-revision with several files: each zone has its own')
  if (!/^\d{1,18}$/u.test(text))
    throw new HoldfastError('Usage', `Cannot read "${text}" as --expect-revision: expected a number`)
  return BigInt(text)
}

async function requireRevision(
  store: ZoneStore,
  input: InputZone,
  found: StoredZone | undefined,
  expected: bigint,
  io: Io,
): Promise<void> {
  if ((found?.revision ?? 0n) === expected) return
  // What it was then is gone once etcd has compacted that revision.
  const known =
    found === undefined || expected === 0n ? undefined : await store.read(found.key, expected).catch(() => undefined)
  throw conflict(input.origin, known ?? { revision: expected, text: undefined }, found, io)
}

/** Whatever fits goes into one transaction, so that zones that belong together appear together. */
async function storeAll(
  store: ZoneStore,
  plans: readonly ZonePlan[],
  stored: (plan: ZonePlan, revision: bigint) => void,
  io: Io,
): Promise<void> {
  for (const group of groups(plans)) {
    const changed = group.filter((plan) => plan.changed)
    const revision = changed.length === 0 ? 0n : await storeGroup(store, changed, io)
    for (const plan of group) stored(plan, plan.changed ? revision : (plan.stored?.revision ?? 0n))
  }
}

async function storeGroup(store: ZoneStore, plans: readonly ZonePlan[], io: Io): Promise<bigint> {
  const compare = plans.map(({ key, stored }) => ({ key, target: 'mod', revision: stored?.revision ?? 0n }) as const)
  const success = plans.map(({ key, input }) => ({ put: { key, value: input.text } }))
  const { succeeded, revision } = await store.client.txn(compare, success).catch((error: unknown) => {
    throw isTooLarge(error) ? tooLarge(plans, error) : error
  })
  if (succeeded) return revision
  for (const { key, input, stored } of plans) {
    const now = await store.read(key)
    if (now?.revision !== stored?.revision) throw conflict(input.origin, stored, now, io)
  }
  throw new HoldfastError('Conflict', 'Cannot store the zones: they changed and changed back meanwhile; try again')
}

/** etcd has its limit from its own command line, so only it knows. */
function isTooLarge(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && /request is too large|larger than max/u.test(error.message)
}

function tooLarge(plans: readonly ZonePlan[], cause: HoldfastError): HoldfastError {
  const { input } = plans.toSorted((a, b) => b.input.text.length - a.input.text.length)[0]
  return new HoldfastError(
    'ZoneTooLarge',
    `Cannot store zone "${keyName(input.origin)}": its ${input.text.length} bytes are more than etcd takes at once; expected a smaller zone, or an etcd with a larger --max-request-bytes,`,
    { cause },
  )
}

function groups(plans: readonly ZonePlan[]): ZonePlan[][] {
  const all: ZonePlan[][] = []
  let bytes = 0
  for (const plan of plans) {
    const last = all.at(-1)
    bytes += plan.input.text.length
    if (last !== undefined && last.length < MOST_ZONES && bytes <= MOST_BYTES) last.push(plan)
    else {
      all.push([plan])
      bytes = plan.input.text.length
    }
  }
  return all
}

type Seen = { readonly revision: bigint; readonly text: Uint8Array | undefined } | undefined

/** Prints what happened between the two versions. */
function conflict(origin: Uint8Array, seen: Seen, now: StoredZone | undefined, io: Io): HoldfastError {
  const name = keyName(origin)
  const zoneOf = (text: Uint8Array | undefined) => (text === undefined ? undefined : checkText(name, origin, text).zone)
  if (seen === undefined || seen.text !== undefined)
    printDiff(diffZones(zoneOf(seen?.text), zoneOf(now?.text)), io, io.stderr)
  const was = seen === undefined || seen.revision === 0n ? 'not there' : `at revision ${seen.revision}`
  const is = now === undefined ? 'gone' : `at revision ${now.revision}`
  return new HoldfastError(
    'Conflict',
    `Cannot store zone "${name}": it was ${was} and is ${is} now; somebody else changed it`,
    {
      hint: 'get it, apply your change to it and put it again',
    },
  )
}

/** Without a revision it was not stored. Of a zone that is new, nobody needs to see every record. */
function printText(plan: ZonePlan, revision: bigint | undefined, io: Io): void {
  const { input, stored, before, diff, changed } = plan
  const { serial } = input.zone
  if (stored !== undefined) printDiff(diff, io)
  const what =
    stored === undefined
      ? `new, ${countRecords(input.zone)} records`
      : !changed
        ? 'unchanged'
        : diff.length === 0
          ? 'same records, other text'
          : summarize(diff)
  const steps = before === undefined || before.serial === serial ? `${serial}` : `${before.serial} → ${serial}`
  const where = revision === undefined ? 'not stored (--dry-run)' : `${changed ? 'stored as ' : ''}revision ${revision}`
  io.stdout.write(`${keyName(input.origin)}: ${what}, serial ${steps}, ${where}\n`)
}

function printJson(plan: ZonePlan, revision: bigint | undefined, io: Io): void {
  const { input, key, stored, before, diff, changed, warnings } = plan
  const json = {
    ...zoneJson({ key, origin: input.origin, revision: revision ?? stored?.revision ?? 0n }),
    serial: input.zone.serial,
    stored: changed && revision !== undefined,
    previous: stored === undefined ? null : { revision: Number(stored.revision), serial: before?.serial ?? null },
    ...diffJson(diff),
    warnings,
  }
  io.stdout.write(`${JSON.stringify(json)}\n`)
}
