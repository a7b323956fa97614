import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { collectingIo } from '../../test/support/command-line.ts'
import { leaseName, readDeletions, readHttpAddress, readLease, readPrefix, readSeconds } from './publish-flags.ts'

describe('the Lease', () => {
  const { io } = collectingIo()

  test('is there when it is asked for, under the name that is given', () => {
    expect(readLease(undefined, 'ours', io)).toBeUndefined()
    expect(readLease('', 'ours', io)).toBeUndefined()
    expect(readLease('false', 'ours', io)).toBeUndefined()
    expect(readLease('true', 'ours', io)).toMatchObject({ namespace: undefined, name: 'ours' })
    expect(readLease('names', 'ours', io)).toMatchObject({ namespace: undefined, name: 'names' })
    expect(readLease('dns/names', 'ours', io)).toMatchObject({ namespace: 'dns', name: 'names' })
    expect(() => readLease('a/b/c', 'ours', io)).toThrow('Cannot use "a/b/c" as a Lease')
  })

  test('is asked for in the name of this pod, and of this start of it', () => {
    const identity = (env: Record<string, string>) => readLease('true', 'ours', collectingIo({ env }).io)?.identity
    expect(identity({ POD_NAME: 'pod-1' })).toMatch(/^pod-1_[\da-f]{8}$/u)
    expect(identity({})).toContain(hostname())
    expect(identity({ POD_NAME: 'pod-1' })).not.toBe(identity({ POD_NAME: 'pod-1' }))
  })

  test('is another one for another command and for another owner', () => {
    expect(leaseName('publish kubernetes', 'default')).toBe('holdfast-publish-kubernetes-default')
    expect(leaseName('publish kubevirt', 'kubevirt')).toBe('holdfast-publish-kubevirt-kubevirt')
    const names = ['Me', 'me', 'm.e', 'm-e', 'm_e', '-', 'é', 'x'.repeat(300)].map((owner) =>
      leaseName('publish a', owner),
    )
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[a-z\d](?:[a-z\d-]{0,251}[a-z\d])?$/u)
  })
})

test('a prefix that stands for every key is refused', () => {
  expect(readPrefix('prefix', undefined)).toBe('/skydns/')
  expect(readPrefix('prefix', '/names')).toBe('/names')
  expect(() => readPrefix('prefix', '')).toThrow(
    'Cannot use --prefix "": it stands for every key of etcd; expected one such as /skydns/',
  )
  expect(() => readPrefix('coredns-prefix', '//')).toThrow('Cannot use --coredns-prefix "//"')
})

test('an empty value is none', () => {
  expect(readDeletions('')).toBeUndefined()
  expect(readSeconds('ttl', '')).toBeUndefined()
})

test('what is no number, no duration or no address is refused', () => {
  expect(readDeletions('5')).toBe(5)
  expect(() => readDeletions('five')).toThrow('Cannot read "five" as --max-deletions')
  expect(readSeconds('ttl', '90')).toBe(90)
  expect(() => readSeconds('ttl', '1ms')).toThrow('Cannot read "1ms" as --ttl')
  expect(() => readHttpAddress('here')).toThrow('Cannot serve metrics on "here"')
})
