import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MachineKind } from '../machine/machine.ts'
import { type AddressRequest, allocateAddresses, networkOf } from './addresses.ts'

function request(machine: string, wanted?: string): AddressRequest {
  return { machine, kind: machine.split('-')[0] as MachineKind, wanted }
}

function allocate(names: readonly string[], kept: Readonly<Record<string, string>> = {}) {
  return Object.fromEntries(
    allocateAddresses(
      77,
      names.map((name) => request(name)),
      kept,
    ),
  )
}

test('the network of a stack depends on its name only, and is none of those that others use', () => {
  expect(networkOf('lab')).toBe(networkOf('lab'))
  expect(networkOf('lab')).not.toBe(networkOf('prod'))
  fc.assert(
    fc.property(fc.string(), (name) => {
      expect(networkOf(name)).toBeGreaterThanOrEqual(16)
      expect(networkOf(name)).toBeLessThanOrEqual(239)
    }),
  )
})

describe('an address', () => {
  test('is the lowest free one of the kind', () => {
    expect(allocate(['etcd-1', 'etcd-2', 'dns-1', 'postgres-1', 'haproxy-1'])).toEqual({
      'etcd-1': '127.77.10.1',
      'etcd-2': '127.77.10.2',
      'dns-1': '127.77.20.1',
      'postgres-1': '127.77.30.1',
      'haproxy-1': '127.77.40.1',
    })
  })

  test('is kept when machines come and go', () => {
    const before = allocate(['etcd-1', 'etcd-2', 'etcd-3'])
    const without = allocate(['etcd-2', 'etcd-3'], before)
    expect(without).toEqual({ 'etcd-2': '127.77.10.2', 'etcd-3': '127.77.10.3' })
    expect(allocate(['etcd-4', 'etcd-2', 'etcd-3'], without)).toEqual({ ...without, 'etcd-4': '127.77.10.1' })
  })

  test('is the one the file gives, also where another machine had it', () => {
    const requests = [request('etcd-1'), request('etcd-2', '127.77.10.1')]
    expect([...allocateAddresses(77, requests, { 'etcd-1': '127.77.10.1', 'etcd-2': '127.77.10.2' })]).toEqual([
      ['etcd-2', '127.77.10.1'],
      ['etcd-1', '127.77.10.2'],
    ])
  })

  test.each([
    ['another network', '127.78.10.5'],
    ['another kind', '127.77.20.5'],
    ['no allocation', '10.0.0.1'],
    ['nowhere', 'nonsense'],
  ])('that was kept from %s is given up', (_, kept) => {
    expect(allocate(['etcd-1'], { 'etcd-1': kept })).toEqual({ 'etcd-1': '127.77.10.1' })
  })

  test('is found for 2500 machines of a kind, and for no more', () => {
    const names = Array.from({ length: 2501 }, (_, index) => `dns-${index + 1}`)
    const found = allocate(names)
    expect(new Set(Object.values(found)).size).toBe(2500)
    expect([found['dns-250'], found['dns-251'], found['dns-2500']]).toEqual([
      '127.77.20.250',
      '127.77.21.1',
      '127.77.29.250',
    ])
    expect(found['dns-2501']).toBeUndefined()
  })

  test('is never that of another machine, whatever was kept', () => {
    const address = fc.integer({ min: 1, max: 5 }).map((host) => `127.77.10.${host}`)
    const names = ['etcd-1', 'etcd-2', 'etcd-3', 'etcd-4'] as const
    const kept = fc.record({ 'etcd-1': address, 'etcd-2': address, 'etcd-3': address, 'etcd-4': address })
    fc.assert(
      fc.property(kept, (before) => {
        const found = allocate(names, before)
        expect(new Set(Object.values(found)).size).toBe(names.length)
        for (const name of names) {
          const others = names.filter((other) => other !== name && before[other] === before[name])
          if (others.length === 0) expect(found[name]).toBe(before[name])
        }
      }),
    )
  })
})
