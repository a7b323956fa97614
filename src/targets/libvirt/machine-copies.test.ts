import { describe, expect, test } from 'vitest'
import { machineRecord } from '../../../test/support/fake-virsh.ts'
import { domain, hypervisorOf } from '../../../test/support/hypervisor-data.ts'
import { findMigrated, instancesOf, sortCopies } from './machine-copies.ts'
import type { MachineRecord } from './machine-record.ts'

const copy = (uri: string, instanceId: string, more: Partial<MachineRecord> = {}) => ({
  hypervisor: hypervisorOf({ uri }),
  domain: domain('s-m'),
  record: machineRecord('s', 'm', { instanceId, ...more }),
})
const uriOf = ({ hypervisor }: { readonly hypervisor: { readonly uri: string } }) => hypervisor.uri

function sorted(found: ReturnType<typeof copy>[], home: string | undefined, wanted: string | undefined) {
  const { current, leftovers } = sortCopies(found, { home, wanted })
  return [uriOf(current), leftovers.map(uriOf)]
}

describe('of several copies of a machine', () => {
  const copies = [copy('a', '1'), copy('b', '2')]

  test('the one on the hypervisor that the file names is the machine, and others are left over', () => {
    expect(sorted(copies, undefined, 'a')).toEqual(['a', ['b']])
    expect(sorted(copies, undefined, 'b')).toEqual(['b', ['a']])
    expect(sorted(copies, 'gone', 'b')).toEqual(['b', ['a']])
  })

  test('the one where it was when all was well counts more: a move to where an old one lies takes nothing from it', () => {
    expect(sorted(copies, 'b', 'a')).toEqual(['b', ['a']])
  })

  test('one that was kept for its data is neither the machine nor left over', () => {
    const kept = copy('a', '1', { isKept: true })
    expect(sorted([kept, copy('b', '2')], 'a', 'a')).toEqual(['b', []])
    expect(sorted([kept], 'b', 'b')).toEqual(['a', []])
  })
})

test('the same machine by two addresses is one, by the address of the file', () => {
  const seen = [copy('a', '1'), copy('b', '1')]
  expect(sorted(seen, 'a', 'b')).toEqual(['b', []])
  expect(sorted(seen, 'b', 'a')).toEqual(['a', []])
  expect(instancesOf(seen, 'b').map(uriOf)).toEqual(['b'])
  expect(instancesOf([...seen, copy('c', '2')], undefined).map(uriOf)).toEqual(['a', 'c'])
})

test('one that runs on one host and is off on another was migrated: it is where it runs', () => {
  const off = { ...copy('a', '1'), domain: domain('s-m', { state: 'shut off' }) }
  const seen = [off, copy('b', '1')]
  expect(sorted(seen, 'a', 'a')).toEqual(['b', []])
  expect(instancesOf(seen, 'a').map(uriOf)).toEqual(['b', 'a'])
  expect(findMigrated(seen)).toMatchObject({ on: { hypervisor: { uri: 'b' } }, off: { hypervisor: { uri: 'a' } } })
  expect(findMigrated([copy('a', '1'), copy('b', '1')])).toBeUndefined()
  expect(findMigrated([off, copy('b', '2')])).toBeUndefined()
})
