import { expect, test } from 'vitest'
import type { Changes, Endpoint } from '../names/endpoints/endpoint.ts'
import { previewJson, previewText } from './publish-changes.ts'

const NONE: Changes = { create: [], updateOld: [], updateNew: [], delete: [] }
const www = { dnsName: 'www.example.org', recordType: 'A', targets: ['192.0.2.1'], labels: {} } as unknown as Endpoint

test('nothing to change comes with the number of names that were compared', () => {
  const preview = { changes: NONE, filtered: { names: 3, matching: 0 }, isPartial: false }
  expect(previewText(preview)).toBe('Nothing to change; 0 of 3 names match the domain filters\n')
  expect(JSON.parse(previewJson(preview))).toEqual({ changes: [], names: 3, matching: 0, complete: true })
})

test('changes are counted', () => {
  const preview = { changes: { ...NONE, create: [www] }, filtered: { names: 1, matching: 1 }, isPartial: false }
  expect(previewText(preview)).toMatch(/^ACTION[^]*www\.example\.org[^]*\n1 to change; 1 of 1 name matches the domain/u)
})

test('a partial comparison never says that there is nothing to change', () => {
  const text = previewText({ changes: NONE, filtered: { names: 3, matching: 3 }, isPartial: true })
  expect(text).toBe(
    'Incomplete, as some objects could not be read: 0 to change so far; 3 of 3 names match the domain filters\n',
  )
})
