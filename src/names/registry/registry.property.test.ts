// Whatever is stored and whatever is wanted: what was applied needs no second time, what belongs to others stays as it
// is, and a plan for a single name is the part of the whole plan that is about it.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Endpoint, LABEL } from '../endpoints/endpoint.ts'
import { formatLabels } from '../endpoints/labels.ts'
import { type Policy, planChanges } from '../endpoints/plan.ts'
import { inValueRegistry } from './in-value.ts'
import { ModelStore } from './testing.ts'
import { noopRegistry } from './noop.ts'
import type { Registry } from './registry.ts'
import { type TxtRegistryOptions, txtRegistry } from './txt.ts'
import { isUsableName, TxtNames } from './txt-names.ts'

const TYPES = ['A', 'AAAA', 'CNAME']
const TARGETS: Readonly<Record<string, readonly string[]>> = {
  A: ['192.0.2.1', '192.0.2.2'],
  AAAA: ['2001:db8::1', '2001:DB8:0::1', '2001:db8::2'],
  CNAME: ['a.example', 'A.example', 'b.example'],
}
/** With names that look like marks. */
const NAMES = ['x.org', 'X.org', 'a-x.org', 'cname-x.org', '*.x.org', 'x.x.org', `${'l'.repeat(60)}.org`]
/** With names whose marks are the same where `wc` stands for an asterisk. */
const SHARING = ['*.x.org', 'wc.x.org', 'x.org']
const APART = ['x.org', 'y.org', '*.x.org', 'z.y.org']
const OWNERS = ['me', 'me', 'other', 'former', '']

const AFFIXES: readonly Pick<TxtRegistryOptions, 'prefix' | 'suffix' | 'wildcardReplacement'>[] = [
  {},
  { prefix: 'Txt.', wildcardReplacement: 'wc' },
  { suffix: '-txt', wildcardReplacement: 'wc' },
  { prefix: '%{record_type}' },
  { suffix: '.%{record_type}.m' },
]

const endpoint = (names: readonly string[]) =>
  fc
    .record({
      dnsName: fc.constantFrom(...names),
      recordType: fc.constantFrom(...TYPES),
      picks: fc.array(fc.nat(2), { minLength: 1, maxLength: 2 }),
      recordTTL: fc.constantFrom(0, 0, 300),
      resource: fc.constantFrom('ingress/d/a', 'ingress/d/b', 'service/d/a'),
      owner: fc.constantFrom(...OWNERS),
      group: fc.constantFrom('', '', 'g'),
      mark: fc.constantFrom('typed', 'typed', 'twice', 'old', 'only', 'none'),
    })
    .map(({ dnsName, recordType, picks, recordTTL, resource, owner, group, mark }) => {
      const all = TARGETS[recordType] ?? []
      const targets = picks.map((pick) => all[pick % all.length]).slice(0, recordType === 'CNAME' ? 1 : 2)
      const providerSpecific = group === '' ? [] : [{ name: 'coredns/group', value: group }]
      return {
        endpoint: { dnsName, recordType, targets, recordTTL, labels: { resource }, providerSpecific },
        owner,
        mark,
      }
    })

type Stored = Readonly<{ endpoint: Endpoint; owner: string; mark: string }>

const scene = (names: readonly string[]) =>
  fc.record({
    stored: fc.uniqueArray(endpoint(names), {
      maxLength: 6,
      selector: (each) => `${each.endpoint.dnsName.toLowerCase()} ${each.endpoint.recordType}`,
    }),
    desired: fc.array(
      endpoint(names).map((each) => each.endpoint),
      { maxLength: 6 },
    ),
    policy: fc.constantFrom<Policy>('sync', 'sync', 'upsert-only', 'create-only'),
    affixes: fc.constantFrom(...AFFIXES),
    oldOwnerId: fc.constantFrom('', 'former'),
    kind: fc.constantFrom('txt', 'txt', 'in-value', 'noop'),
  })

type Scene = typeof scene extends (names: readonly string[]) => fc.Arbitrary<infer Value> ? Value : never

function open({ stored, affixes, oldOwnerId, kind }: Scene): { registry: Registry; store: ModelStore } {
  if (kind === 'noop')
    return {
      registry: noopRegistry(),
      store: storeOf(
        stored.map((each) => each.endpoint),
        false,
      ),
    }
  if (kind === 'in-value') {
    const owned = stored.map((each) => withOwner(each.endpoint, each.owner))
    return { registry: inValueRegistry({ ownerId: 'me', oldOwnerId }), store: storeOf(owned, true) }
  }
  const { prefix = '', suffix = '', wildcardReplacement = '' } = affixes
  const names = new TxtNames({ prefix, suffix, wildcardReplacement })
  const registry = txtRegistry({ ownerId: 'me', oldOwnerId, recordTypes: TYPES, ...affixes })
  return {
    registry,
    store: storeOf(
      stored.flatMap((each) => withMarks(each, names)),
      false,
    ),
  }
}

function storeOf(records: readonly Endpoint[], keepsOwner: boolean): ModelStore {
  return new ModelStore(records, { keepsOwner })
}

function withOwner(each: Endpoint, owner: string): Endpoint {
  return owner === '' ? each : { ...each, labels: { ...each.labels, owner } }
}

function withMarks({ endpoint: each, owner, mark }: Stored, names: TxtNames): Endpoint[] {
  const { labels, dnsName, recordType } = each
  const named = mark === 'old' ? names.oldNameOf(dnsName) : names.nameOf(dnsName, recordType)
  const text = `"${formatLabels({ ...labels, ...(owner !== '' && { owner }) })}"`
  const txt = { dnsName: named, recordType: 'TXT', targets: [text], labels: {}, providerSpecific: [] }
  if (!isUsableName(named)) return [each]
  const marks = { typed: [txt], twice: [txt, txt], old: [txt], only: [txt], none: [] }[mark] ?? []
  return mark === 'only' ? marks : [each, ...marks]
}

function changesOf(registry: Registry, stored: readonly Endpoint[], desired: readonly Endpoint[], policy: Policy) {
  const plan = planChanges({
    ...{ current: registry.records(stored), desired, policy, managedRecordTypes: TYPES, excludeRecordTypes: [] },
    ...{ ownerId: registry.ownerId, domainFilter: () => true },
  })
  const marked = registry.mark(plan, stored)
  return { ...marked, conflicts: [...plan.conflicts, ...marked.conflicts] }
}

/** Returns how much there was to do. */
function applyOnce(registry: Registry, store: ModelStore, { desired, policy }: Scene): number {
  const changes = changesOf(registry, store.records(), desired, policy)
  store.apply(changes)
  return changes.create.length + changes.updateNew.length + changes.delete.length
}

const summary = ({ dnsName, recordType, targets, recordTTL, labels }: Endpoint) =>
  JSON.stringify([dnsName, recordType, targets.toSorted(), recordTTL, labels[LABEL.owner] ?? ''])

function foreign(registry: Registry, store: ModelStore): string[] {
  if (registry.ownerId === '') return []
  const isForeign = ({ labels }: Endpoint) => labels[LABEL.owner] !== registry.ownerId
  return registry.records(store.records()).filter(isForeign).map(summary).toSorted()
}

describe('plans and ownership', () => {
  it('leave nothing to do once they are applied, and other owners as they were', () => {
    fc.assert(
      fc.property(scene(NAMES), (given) => {
        const { registry, store } = open(given)
        const before = foreign(registry, store)
        applyOnce(registry, store, given)
        expect(foreign(registry, store)).toEqual(before)
        expect(applyOnce(registry, store, given)).toBe(0)
      }),
      { numRuns: 500 },
    )
  })

  it('come to rest where names share marks, and leave other owners as they were', () => {
    fc.assert(
      fc.property(scene(SHARING), (given) => {
        const { registry, store } = open(given)
        const before = foreign(registry, store)
        for (let round = 0; round < 3; round++) applyOnce(registry, store, given)
        expect(foreign(registry, store)).toEqual(before)
        expect(applyOnce(registry, store, given)).toBe(0)
      }),
      { numRuns: 500 },
    )
  })

  it('publish what is wanted, or say why not', () => {
    fc.assert(
      fc.property(scene(NAMES), (given) => {
        const { registry, store } = open(given)
        const changes = changesOf(registry, store.records(), given.desired, 'sync')
        store.apply(changes)
        const present = new Set(
          store.records().map(({ dnsName, recordType }) => `${dnsName} ${recordType}`.toLowerCase()),
        )
        const told = new Set(changes.conflicts.map(({ dnsName }) => dnsName.toLowerCase()))
        const missing = given.desired.filter(
          ({ dnsName, recordType }) => !present.has(`${dnsName} ${recordType}`.toLowerCase()),
        )
        expect(missing.filter(({ dnsName }) => !told.has(dnsName.toLowerCase()))).toEqual([])
      }),
    )
  })

  it('leave no mark of ours behind when nothing is wanted any more', () => {
    fc.assert(
      fc.property(scene(APART), (given) => {
        const { registry, store } = open({ ...given, stored: [] })
        store.apply(changesOf(registry, [], given.desired, 'sync'))
        store.apply(changesOf(registry, store.records(), [], 'sync'))
        expect(store.records()).toEqual([])
      }),
    )
  })

  it('are the same for a name alone as for all of them', () => {
    fc.assert(
      fc.property(scene(APART), (given) => {
        const { registry, store } = open(given)
        const stored = store.records()
        const whole = changesOf(registry, stored, given.desired, given.policy)
        const parts = APART.map((name) => {
          const names = new Set([name, ...registry.markNames(name)].map((each) => each.toLowerCase()))
          const near = stored.filter(({ dnsName }) => names.has(dnsName.toLowerCase()))
          const plan = planChanges({
            current: registry.records(near).filter(({ dnsName }) => dnsName === name),
            desired: given.desired.filter(({ dnsName }) => dnsName === name),
            ...{ policy: given.policy, managedRecordTypes: TYPES, excludeRecordTypes: [] },
            ...{ ownerId: registry.ownerId, domainFilter: () => true },
          })
          return registry.mark(plan, near)
        })
        for (const key of ['create', 'updateOld', 'updateNew', 'delete'] as const)
          expect(
            parts
              .flatMap((part) => part[key])
              .map(summary)
              .toSorted(),
          ).toEqual(whole[key].map(summary).toSorted())
      }),
      { numRuns: 500 },
    )
  })
})
