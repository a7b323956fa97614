// The cases of externaldns.json about plans, filters and ownership. Each kind has its check below. None of them is one in
// which we differ; where we differ otherwise, the tests beside the code show it.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/lib/secret.ts'
import { chooseCandidate, withoutMixedAliases } from '../../src/names/endpoints/conflict.ts'
import { domainFilter, normalDomains } from '../../src/names/endpoints/domain-filter.ts'
import type { Changes, Endpoint } from '../../src/names/endpoints/endpoint.ts'
import { formatLabels, parseLabels } from '../../src/names/endpoints/labels.ts'
import { mergeEndpoints } from '../../src/names/endpoints/merge-endpoints.ts'
import { type Policy, planChanges } from '../../src/names/endpoints/plan.ts'
import { FORCE_UPDATE } from '../../src/names/endpoints/properties.ts'
import { TxtNames } from '../../src/names/registry/txt-names.ts'
import { txtRegistry } from '../../src/names/registry/txt.ts'

interface Vector<Input, Expected> {
  readonly id: string
  readonly kind: string
  readonly note?: string
  readonly input: Input
  readonly expect: Expected
}

/** An endpoint of a case lacks what it does not speak of. */
type Given = Partial<Endpoint>
type GivenChanges = { readonly [Key in keyof Changes]: readonly Given[] }

const { cases } = JSON.parse(readFileSync(new URL('externaldns.json', import.meta.url), 'utf8')) as {
  cases: readonly Vector<never, never>[]
}

const ALL_TYPES = ['A', 'AAAA', 'CNAME', 'MX', 'SRV', 'NAPTR', 'NS', 'PTR', 'TXT']

const CHECKS: Readonly<Record<string, (vector: Vector<never, never>) => void>> = {
  plan: plans,
  policy: allows,
  'conflict-create': chooses,
  'conflict-update': chooses,
  'conflict-types': keepsTypes,
  merge: merges,
  'domain-filter': filters,
  labels: labels,
  'txt-name': namesMark,
  'txt-name-reverse': readsMarkName,
  'txt-registry-read': readsOwners,
  'txt-registry-apply': marksChanges,
  'txt-registry-generate': generatesMark,
  'txt-registry-config': refusesConfig,
}

describe('vectors of plans and ownership', () => {
  for (const vector of cases.filter(({ kind }) => kind in CHECKS))
    it(`${vector.id}: ${vector.note ?? vector.kind}`, () => CHECKS[vector.kind](vector))

  it('has cases of every kind', () => {
    const kinds = new Set(cases.map(({ kind }) => kind))
    expect(Object.keys(CHECKS).filter((kind) => !kinds.has(kind))).toEqual([])
  })
})

interface PlanCase {
  readonly policy: Policy
  readonly current: readonly Given[]
  readonly desired: readonly Given[]
  readonly managed_record_types: readonly string[]
  readonly exclude_record_types?: readonly string[]
  readonly owner_id?: string
}

function plans({ input, expect: expected }: Vector<PlanCase, GivenChanges & { readonly has_changes?: boolean }>): void {
  const changes = planChanges({
    ...{ current: input.current.map(full), desired: input.desired.map(full), policy: input.policy },
    ...{ managedRecordTypes: input.managed_record_types, excludeRecordTypes: input.exclude_record_types ?? [] },
    ...{ ownerId: input.owner_id ?? '', domainFilter: () => true },
  })
  if (expected.has_changes === undefined) compareChanges(changes, expected)
  else expect(changes.create.length + changes.updateNew.length + changes.delete.length > 0).toBe(expected.has_changes)
}

interface Counts {
  readonly create: number
  readonly update: number
  readonly delete: number
}

function allows({ input, expect: expected }: Vector<{ policy: Policy }, { allowed: Counts }>): void {
  const at = (dnsName: string, target: string) => full({ dnsName, recordType: 'A', targets: [target] })
  const changes = planChanges({
    current: [at('updated', '192.0.2.1'), at('deleted', '192.0.2.1')],
    desired: [at('created', '192.0.2.1'), at('updated', '192.0.2.2')],
    ...{
      policy: input.policy,
      managedRecordTypes: ['A'],
      excludeRecordTypes: [],
      ownerId: '',
      domainFilter: () => true,
    },
  })
  const counts = { create: changes.create.length, update: changes.updateNew.length, delete: changes.delete.length }
  expect(counts).toEqual(expected.allowed)
  expect(changes.updateOld).toHaveLength(counts.update)
}

function chooses({
  input,
  expect: expected,
}: Vector<{ current?: Given; candidates: Given[] }, { chosen: Given }>): void {
  const chosen = chooseCandidate(input.candidates.map(full), input.current && full(input.current))
  expect(shown(chosen)).toEqual(shown(full(expected.chosen)))
}

function keepsTypes({
  input,
  expect: expected,
}: Vector<{ candidates: Given[] }, { record_types_kept: string[] }>): void {
  const { kept, dropped } = withoutMixedAliases(input.candidates.map(full))
  expect(kept.map(({ recordType }) => recordType)).toEqual(expected.record_types_kept)
  expect(dropped).toEqual([])
}

function merges({ input, expect: expected }: Vector<{ endpoints: Given[] }, { endpoints: Given[] }>): void {
  compareEndpoints(mergeEndpoints(input.endpoints.map(full)), expected.endpoints)
}

interface Filtered {
  readonly match: boolean
  readonly normalised: { readonly include?: readonly string[]; readonly exclude?: readonly string[] }
}

function filters({
  input,
  expect: expected,
}: Vector<{ include: string[]; exclude: string[]; names: string[] }, Filtered>): void {
  const matches = domainFilter(input)
  const names = input.names.flatMap((name) => [name, name.endsWith('.') ? name : `${name}.`])
  expect(names.filter((name) => matches(name) !== expected.match)).toEqual([])
  expect(normalDomains(input.include).toSorted()).toEqual(expected.normalised.include ?? [])
  expect(normalDomains(input.exclude).toSorted()).toEqual(expected.normalised.exclude ?? [])
}

type LabelText = Readonly<Record<string, string>>

function labels({
  input,
  expect: expected,
}: Vector<{ labels?: LabelText; text?: string }, { text?: string; quoted?: string; labels?: LabelText }>): void {
  if (input.labels !== undefined) {
    expect(formatLabels(input.labels)).toBe(expected.text)
    expect(parseLabels(expected.quoted ?? '')).toEqual(input.labels)
  } else expect(parseLabels(input.text ?? '')).toEqual(expected.labels)
}

interface Affix {
  readonly prefix: string
  readonly suffix: string
  readonly wildcard_replacement: string
}

function namesOf({ prefix, suffix, wildcard_replacement: wildcardReplacement }: Affix): TxtNames {
  return new TxtNames({ prefix, suffix, wildcardReplacement })
}

function namesMark({
  input: { affix, name, record_type: recordType },
  expect: expected,
}: Vector<{ affix: Affix; name: string; record_type: string }, { txt_name: string; reversible?: boolean }>): void {
  const names = namesOf(affix)
  expect(names.nameOf(name, recordType)).toBe(expected.txt_name)
  expect(names.marked(expected.txt_name)).toContainEqual({ dnsName: name, recordType })
}

function readsMarkName({
  input,
  expect: expected,
}: Vector<{ affix: Affix; txt_name: string }, { name: string; record_type: string }>): void {
  const wanted = expected.name === '' ? [] : [{ dnsName: expected.name, recordType: expected.record_type }]
  expect(namesOf(input.affix).marked(input.txt_name)).toEqual(wanted)
}

interface RegistryCase {
  readonly owner_id: string
  readonly old_owner_id?: string
  readonly txt_prefix?: string
  readonly txt_suffix?: string
  readonly wildcard_replacement?: string
  readonly encrypt?: boolean
  readonly aes_key?: string
}

function registryOf(given: RegistryCase) {
  return txtRegistry({
    ...{ ownerId: given.owner_id, oldOwnerId: given.old_owner_id ?? '', recordTypes: ALL_TYPES },
    ...{ prefix: given.txt_prefix ?? '', suffix: given.txt_suffix ?? '', encrypt: given.encrypt ?? false },
    wildcardReplacement: given.wildcard_replacement ?? '',
    ...(given.aes_key !== undefined && { aesKey: new Secret(given.aes_key) }),
  })
}

function readsOwners({
  input,
  expect: expected,
}: Vector<{ registry: RegistryCase; also_same_with?: RegistryCase[]; stored: Given[] }, { records: Given[] }>): void {
  for (const registry of [input.registry, ...(input.also_same_with ?? [])])
    compareEndpoints(registryOf(registry).records(input.stored.map(full)), expected.records)
}

function marksChanges({
  input,
  expect: expected,
}: Vector<
  { registry: RegistryCase; stored: Given[]; changes: GivenChanges },
  { provider_changes: GivenChanges }
>): void {
  const { create, updateOld, updateNew, delete: deleted } = input.changes
  const changes = {
    ...{ create: create.map(full), updateOld: updateOld.map(full) },
    ...{ updateNew: updateNew.map(full), delete: deleted.map(full) },
  }
  compareChanges(registryOf(input.registry).mark(changes, input.stored.map(full)), expected.provider_changes)
}

function generatesMark({
  input: { record, ...registry },
  expect: expected,
}: Vector<RegistryCase & { record: Given }, { txt: Given[] }>): void {
  const changes = { create: [full(record)], updateOld: [], updateNew: [], delete: [] }
  const { create } = registryOf(registry).mark(changes, [])
  compareEndpoints(
    create.filter(({ recordType }) => recordType === 'TXT'),
    expected.txt,
  )
}

function refusesConfig({ input, expect: expected }: Vector<RegistryCase, { error: string }>): void {
  expect(() => registryOf(input)).toThrow(expected.error)
}

function compareChanges(actual: Changes, expected: GivenChanges): void {
  for (const key of ['create', 'updateOld', 'updateNew', 'delete'] as const)
    compareEndpoints(actual[key], expected[key])
}

function compareEndpoints(actual: readonly Endpoint[], expected: readonly Given[]): void {
  expect(actual.map(shown).toSorted()).toEqual(expected.map((each) => shown(full(each))).toSorted())
}

function full(given: Given): Endpoint {
  return { dnsName: '', recordType: '', targets: [], labels: {}, providerSpecific: [], ...given }
}

/** Without labels that are empty, which ExternalDNS's tests do not tell from none, and the order to renew marks. */
function shown({
  dnsName,
  recordType,
  targets,
  labels: all,
  recordTTL,
  setIdentifier,
  providerSpecific,
}: Endpoint): string {
  const kept = Object.keys(all).filter((key) => all[key] !== '')
  const properties = providerSpecific.filter(({ name }) => name !== FORCE_UPDATE.name)
  return JSON.stringify([
    ...[dnsName, recordType, targets.toSorted(), recordTTL ?? 0, setIdentifier ?? ''],
    ...[kept.toSorted().map((key) => [key, all[key]]), properties.toSorted((a, b) => (a.name < b.name ? -1 : 1))],
  ])
}
