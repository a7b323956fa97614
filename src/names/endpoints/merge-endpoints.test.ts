import { expect, it } from 'vitest'
import type { Endpoint } from './endpoint.ts'
import { mergeEndpoints } from './merge-endpoints.ts'

const endpoint = (dnsName: string, recordType: string, targets: string[], resource = ''): Endpoint => ({
  ...{ dnsName, recordType, targets, labels: { resource }, providerSpecific: [] },
})

it('the first endpoint of a name gives labels and place, the others their targets', () => {
  const merged = mergeEndpoints([
    endpoint('b.example', 'A', ['192.0.2.2'], 'first'),
    endpoint('a.example', 'A', ['192.0.2.9']),
    endpoint('b.example', 'A', ['192.0.2.1', '192.0.2.2'], 'second'),
  ])
  expect(merged).toEqual([
    endpoint('b.example', 'A', ['192.0.2.1', '192.0.2.2'], 'first'),
    endpoint('a.example', 'A', ['192.0.2.9']),
  ])
})

it('what is merged stays as it was', () => {
  const first = endpoint('a.example', 'A', ['192.0.2.2'])
  mergeEndpoints([first, endpoint('a.example', 'A', ['192.0.2.1'])])
  expect(first.targets).toEqual(['192.0.2.2'])
})
