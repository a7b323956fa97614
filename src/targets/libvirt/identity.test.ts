import { expect, test } from 'vitest'
import { domainName, macOf, uuidOf } from './identity.ts'

test('a domain is named after stack and machine', () => {
  expect(domainName('lab', 'etcd-1')).toBe('lab-etcd-1')
})

test('ids stay as they are from one version to the next', () => {
  expect(uuidOf('lab', 'etcd-1')).toBe('4a40964f-7493-8729-9e8d-f30095ef83a2')
  expect(macOf('lab', 'etcd-1', 0)).toBe('52:54:00:cc:f7:b1')
})

test('a UUID is of version 8 and of the variant of RFC 9562', () => {
  for (let index = 0; index < 100; index++)
    expect(uuidOf('lab', `m${index}`)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
})

test('names that run together to the same text have ids of their own', () => {
  expect(domainName('a-b', 'c')).toBe(domainName('a', 'b-c'))
  expect(uuidOf('a-b', 'c')).not.toBe(uuidOf('a', 'b-c'))
  expect(macOf('a-b', 'c', 0)).not.toBe(macOf('a', 'b-c', 0))
})

test('each interface has a MAC address of its own', () => {
  expect(new Set([0, 1, 2].map((index) => macOf('lab', 'etcd-1', index))).size).toBe(3)
})
