import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Log } from '../../lib/log.ts'
import { type Changes, type Endpoint, LABEL } from '../endpoints/endpoint.ts'
import { inValueRegistry } from '../registry/in-value.ts'
import { Reconciler, type ReconcilerOptions, type RecordStore, type StoreProblem } from './reconciler.ts'

const OWNER = 'us'
/** The limit only ends a test that hangs. */
const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 5 })

/** Records in memory, which can be away. */
class Records implements RecordStore {
  readonly #byName = new Map<string, readonly Endpoint[]>()
  /** How often something was written. */
  writes = 0
  /** How often writing was begun. */
  attempts = 0
  isAway = false
  isFull = false
  fault: Error | undefined
  /** Writes wait for it. */
  gate: Promise<void> | undefined

  put(dnsName: string, target: string, owner = OWNER): void {
    this.#byName.set(dnsName, [{ ...endpoint(dnsName, target), labels: { [LABEL.owner]: owner } }])
  }

  remove(dnsName: string): void {
    this.#byName.delete(dnsName)
  }

  names(): Iterable<string> {
    return [...this.#byName.keys()]
  }

  endpoints(names: Iterable<string>): readonly Endpoint[] {
    return Array.from(names, (name) => this.#byName.get(name) ?? []).flat()
  }

  asStored(wish: Endpoint): Endpoint | string {
    return wish.targets.includes('unstorable') ? `Cannot write "${wish.dnsName}": no room` : wish
  }

  async apply(changes: Changes, mayWrite: () => boolean): Promise<{ problems: StoreProblem[] }> {
    this.attempts++
    await this.gate
    if (this.fault !== undefined) throw this.fault
    const touched = [...changes.create, ...changes.updateNew, ...changes.delete]
    if (this.isAway || !mayWrite())
      return { problems: touched.map(({ dnsName }) => ({ name: dnsName, message: 'etcd is away', retryable: true })) }
    if (this.isFull)
      return { problems: touched.map(({ dnsName }) => ({ name: dnsName, message: 'no', retryable: false })) }
    this.writes++
    for (const { dnsName } of changes.delete) this.#byName.delete(dnsName)
    for (const each of [...changes.create, ...changes.updateNew]) this.#byName.set(each.dnsName, [each])
    return { problems: [] }
  }

  get targets(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#byName].map(([name, all]) => [name, all.flatMap((e) => e.targets).join(' ')]))
  }
}

function endpoint(dnsName: string, target: string, resource = `ingress/default/${dnsName}`): Endpoint {
  const labels = { [LABEL.resource]: resource }
  return { dnsName, recordType: 'A', targets: [target], labels, providerSpecific: [] }
}

let store: Records
let wanted: Map<string, Endpoint[]>
let isComplete: boolean
let mayWrite: boolean
let warnings: string[]
let errors: string[]
let plans: Changes[]
let ending: AbortController
let running: Promise<void> | undefined
beforeEach(() => {
  store = new Records()
  wanted = new Map()
  isComplete = true
  mayWrite = true
  warnings = []
  errors = []
  plans = []
  ending = new AbortController()
  running = undefined
})
afterEach(async () => {
  ending.abort()
  await running
})

function reconciler(options: Partial<ReconcilerOptions> = {}): Reconciler {
  const log = { warning: (text: string) => warnings.push(text), error: (text: string) => errors.push(text) }
  return new Reconciler({
    ...{ store, registry: inValueRegistry({ ownerId: OWNER }), policy: 'sync', dryRun: false },
    ...{ managedRecordTypes: ['A'], excludeRecordTypes: [], domainFilter: () => true },
    wanted: { names: () => wanted.keys(), candidates: (name) => wanted.get(name) ?? [] },
    ...{ isComplete: () => isComplete, intervalMs: 3_600_000, maxDeletions: undefined },
    onPlan: (changes) => plans.push(changes),
    log: log as unknown as Log,
    ...options,
  })
}

function started(options: Partial<ReconcilerOptions> = {}): Reconciler {
  const started = reconciler(options)
  running = started.run(ending.signal, () => mayWrite)
  return started
}

/** As an object that appears or changes; without a target, that goes. */
function wish(subject: Reconciler, name: string, target: string | undefined, listed = false): void {
  if (target === undefined) wanted.delete(name)
  else wanted.set(name, [endpoint(name, target)])
  subject.touch([name], listed)
}

test('what is wanted is created, updated and deleted as it changes, and nothing is written for nothing', async () => {
  const subject = started()
  wish(subject, 'web.test', '192.0.2.1')
  await soon(() => expect(store.targets).toEqual({ 'web.test': '192.0.2.1' }))
  wish(subject, 'web.test', '192.0.2.2')
  await soon(() => expect(store.targets).toEqual({ 'web.test': '192.0.2.2' }))
  wish(subject, 'web.test', undefined)
  await soon(() => expect(store.targets).toEqual({}))
  const { writes } = store
  const { idle } = subject.counts
  subject.touch(['web.test'], false)
  await soon(() => expect(subject.counts.idle).toBeGreaterThan(idle))
  expect(store.writes).toBe(writes)
})

test('what nobody wants since before the start goes only once everything is known', async () => {
  isComplete = false
  store.put('old.test', '192.0.2.1')
  const subject = reconciler()
  expect(await subject.once()).toBe(true)
  expect(store.targets).toEqual({ 'old.test': '192.0.2.1' })
  isComplete = true
  await subject.once()
  expect(store.targets).toEqual({})
})

test('what was seen wanted goes even though not everything is known', async () => {
  isComplete = false
  store.put('other.test', '192.0.2.9')
  const subject = started()
  wish(subject, 'web.test', '192.0.2.1', true)
  await soon(() => expect(store.targets).toHaveProperty(['web.test']))
  wish(subject, 'web.test', undefined, true)
  await soon(() => expect(store.targets).toEqual({ 'other.test': '192.0.2.9' }))
})

test('what may be wanted by something that is not known stays, even if somebody changes it in the store', async () => {
  isComplete = false
  store.put('other.test', '192.0.2.1')
  const subject = started()
  await soon(() => expect(subject.counts.idle).toBeGreaterThan(0))
  const { idle } = subject.counts
  store.put('other.test', '192.0.2.2')
  subject.stored(['other.test'])
  await soon(() => expect(subject.counts.idle).toBeGreaterThan(idle))
  expect(store.targets).toEqual({ 'other.test': '192.0.2.2' })
})

test('names that nobody wants any more since a comparison of everything began are not part of it', async () => {
  const names = Array.from({ length: 1200 }, (_, i) => `h${i}.test`)
  for (const name of names) {
    store.put(name, '192.0.2.1')
    wanted.set(name, [endpoint(name, '192.0.2.1')])
  }
  wanted.set(names[0], [endpoint(names[0], '192.0.2.2')])
  const { promise, resolve } = Promise.withResolvers<void>()
  store.gate = promise
  const subject = started()
  await soon(() => expect(store.attempts).toBe(1))
  wanted.clear()
  subject.touch(names, true)
  resolve()
  // One that is held back, and two of the three slices.
  await soon(() => expect(subject.counts.idle).toBe(3))
  expect(Object.keys(store.targets)).toHaveLength(1200)
  expect(errors).toEqual([expect.stringMatching(/^Cannot delete 1200 names in one run: /u)])
})

test('the greater part of the names does not go unseen; what was seen going goes', async () => {
  for (let i = 0; i < 30; i++) store.put(`h${i}.test`, '192.0.2.1')
  const subject = reconciler()
  await subject.once()
  await subject.once()
  expect(Object.keys(store.targets)).toHaveLength(30)
  expect(errors).toEqual([expect.stringMatching(/^Cannot delete 30 names in one run: /u)])
  running = subject.run(ending.signal, () => mayWrite)
  subject.touch(['h0.test'], false)
  await soon(() => expect(Object.keys(store.targets)).toHaveLength(29))
  expect(store.targets).not.toHaveProperty(['h0.test'])
})

test('a limit that is given holds for deletions that were seen as well, and everything else goes on', async () => {
  for (const name of ['a.test', 'b.test']) store.put(name, '192.0.2.1')
  const subject = reconciler({ maxDeletions: 1 })
  wanted.set('c.test', [endpoint('c.test', '192.0.2.3')])
  subject.touch(['a.test', 'b.test', 'c.test'], false)
  await subject.once()
  expect(store.targets).toEqual({ 'a.test': '192.0.2.1', 'b.test': '192.0.2.1', 'c.test': '192.0.2.3' })
  expect(errors).toEqual([expect.stringMatching(/at most 1 may go/u)])
  wanted.set('b.test', [endpoint('b.test', '192.0.2.1')])
  await subject.once()
  expect(store.targets).not.toHaveProperty(['a.test'])
})

test('what a store that is away did not take is tried again, and told once for all names', async () => {
  store.isAway = true
  const subject = started()
  wish(subject, 'a.test', '192.0.2.1')
  wish(subject, 'b.test', '192.0.2.2')
  await soon(() => expect(subject.counts.failed).toBeGreaterThan(1))
  expect(warnings).toEqual(['etcd is away (and 1 names more)'])
  store.isAway = false
  await soon(() => expect(store.targets).toEqual({ 'a.test': '192.0.2.1', 'b.test': '192.0.2.2' }))
})

test('names of others, and several types of one name, do not make a mass deletion look small', async () => {
  const registry = inValueRegistry({ ownerId: OWNER })
  for (let i = 0; i < 30; i++) {
    store.put(`h${i}.test`, '192.0.2.1')
    store.put(`theirs${i}.test`, '192.0.2.1', 'them')
  }
  await reconciler({ registry }).once()
  expect(Object.keys(store.targets)).toHaveLength(60)
})

test('many names that only change their type are no mass deletion', async () => {
  for (let i = 0; i < 30; i++) {
    store.put(`h${i}.test`, '192.0.2.1')
    wanted.set(`h${i}.test`, [{ ...endpoint(`h${i}.test`, 'web.test'), recordType: 'CNAME' }])
  }
  expect(await reconciler({ managedRecordTypes: ['A', 'CNAME'] }).once()).toBe(true)
  expect(new Set(Object.values(store.targets))).toEqual(new Set(['web.test']))
  expect(errors).toEqual([])
})

test('a name that cannot be planned does not stand in the way of the others', async () => {
  for (const name of ['a.test', 'b.test', 'c.test']) wanted.set(name, [endpoint(name, '192.0.2.1')])
  const candidates = (name: string) => {
    if (name === 'b.test') throw new Error('poison')
    return wanted.get(name) ?? []
  }
  expect(await reconciler({ wanted: { names: () => wanted.keys(), candidates } }).once()).toBe(false)
  expect(store.targets).toEqual({ 'a.test': '192.0.2.1', 'c.test': '192.0.2.1' })
})

test('a deletion that was seen is still one when it is tried again', async () => {
  for (let i = 0; i < 30; i++) {
    store.put(`h${i}.test`, '192.0.2.1')
    wanted.set(`h${i}.test`, [endpoint(`h${i}.test`, '192.0.2.1')])
  }
  const subject = started()
  await soon(() => expect(subject.counts.idle).toBeGreaterThan(0))
  store.isAway = true
  for (const name of store.names()) wish(subject, name, undefined)
  await soon(() => expect(subject.counts.failed).toBeGreaterThan(0))
  store.isAway = false
  await soon(() => expect(store.targets).toEqual({}))
})

test('a fault of the store is told, and what was to be done is tried again', async () => {
  store.fault = new Error('out of order')
  const subject = reconciler()
  wish(subject, 'web.test', '192.0.2.1')
  expect(await subject.once()).toBe(false)
  expect(warnings).toEqual(['Cannot write records: out of order; it is tried again'])
  store.fault = undefined
  expect(await subject.once()).toBe(true)
  expect(store.targets).toEqual({ 'web.test': '192.0.2.1' })
})

test('what somebody changes in the store is mended', async () => {
  const subject = started()
  wish(subject, 'web.test', '192.0.2.1')
  await soon(() => expect(store.targets).toHaveProperty(['web.test']))
  store.put('web.test', '192.0.2.99')
  subject.stored(['web.test'])
  await soon(() => expect(store.targets).toEqual({ 'web.test': '192.0.2.1' }))
  store.remove('web.test')
  subject.stored(['web.test'])
  await soon(() => expect(store.targets).toEqual({ 'web.test': '192.0.2.1' }))
})

test('what nobody tells of is found at the interval', async () => {
  started({ intervalMs: 20 })
  wanted.set('web.test', [endpoint('web.test', '192.0.2.1')])
  await soon(() => expect(store.targets).toEqual({ 'web.test': '192.0.2.1' }))
})

test('a name of somebody else stays as it is; that is told once, and again when it comes back', async () => {
  store.put('taken.test', '192.0.2.9', 'them')
  const subject = reconciler()
  wish(subject, 'taken.test', '192.0.2.1')
  await subject.once()
  await subject.once()
  expect(store.targets).toEqual({ 'taken.test': '192.0.2.9' })
  expect(warnings).toEqual([expect.stringMatching(/"taken\.test".*belongs to owner "them"/u)])
  store.remove('taken.test')
  await subject.once()
  store.put('taken.test', '192.0.2.9', 'them')
  await subject.once()
  expect(warnings).toHaveLength(2)
})

test('of two objects that want a name one gets it, and the other is told', async () => {
  const subject = reconciler()
  const rivals = [
    endpoint('web.test', '192.0.2.2', 'service/default/b'),
    endpoint('web.test', '192.0.2.1', 'ingress/a/a'),
  ]
  wanted.set('web.test', rivals)
  await subject.once()
  expect(store.targets).toEqual({ 'web.test': '192.0.2.1' })
  expect(warnings).toEqual([expect.stringMatching(/"web\.test" as A 192\.0\.2\.2 for service default\/b/u)])
})

test('what the store has no room for is told, and the others are written', async () => {
  const subject = reconciler()
  wish(subject, 'odd.test', 'unstorable')
  wish(subject, 'web.test', '192.0.2.1')
  expect(await subject.once()).toBe(true)
  expect(store.targets).toEqual({ 'web.test': '192.0.2.1' })
  expect(warnings).toEqual(['Cannot write "odd.test": no room'])
})

test('a dry run tells its plan and writes nothing', async () => {
  store.put('old.test', '192.0.2.9')
  const subject = reconciler({ dryRun: true })
  wish(subject, 'web.test', '192.0.2.1')
  expect(await subject.once()).toBe(true)
  expect(plans).toMatchObject([{ create: [{ dnsName: 'web.test' }], delete: [{ dnsName: 'old.test' }] }])
  expect(store.writes).toBe(0)
})

test('whoever may not write waits, without a word, and writes when it may', async () => {
  mayWrite = false
  const subject = started()
  wish(subject, 'web.test', '192.0.2.1')
  await soon(() => expect(subject.counts.failed).toBeGreaterThan(0))
  expect(store.writes).toBe(0)
  mayWrite = true
  await soon(() => expect(store.targets).toEqual({ 'web.test': '192.0.2.1' }))
  expect(warnings).toEqual([])
})

test('whoever may no longer write in the middle of writing does not go on with it', async () => {
  const subject = started()
  const { promise, resolve } = Promise.withResolvers<void>()
  store.gate = promise
  wish(subject, 'web.test', '192.0.2.1')
  await soon(() => expect(store.attempts).toBe(1))
  mayWrite = false
  resolve()
  await soon(() => expect(subject.counts.failed).toBeGreaterThan(0))
  expect(store.targets).toEqual({})
  expect(warnings).toEqual([])
})

test('what was not written is not told as done, and counts as failed', async () => {
  wanted.set('web.test', [endpoint('web.test', '192.0.2.1')])
  store.isFull = true
  const subject = reconciler()
  expect(await subject.once()).toBe(false)
  expect(plans).toEqual([])
  expect(subject.counts).toMatchObject({ failed: 1, lastGoodAt: 0 })
  store.isFull = false
  expect(await subject.once()).toBe(true)
  expect(plans).toHaveLength(1)
})
