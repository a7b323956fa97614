import { expect, it } from 'vitest'
import { compareTargets, sameTargets, showTargets, targetType } from './targets.ts'

it('a target is an address or a name', () => {
  const types = ['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1', '::', '256.0.0.1', '192.168.1', 'lb.example'].map(
    targetType,
  )
  expect(types).toEqual(['A', 'AAAA', 'AAAA', 'AAAA', 'CNAME', 'CNAME', 'CNAME'])
})

it('order, repetition, letter case and the spelling of addresses make no difference', () => {
  expect(sameTargets('A', ['192.0.2.1', '192.0.2.2'], ['192.0.2.2', '192.0.2.1', '192.0.2.1'])).toBe(true)
  expect(sameTargets('CNAME', ['B.example', 'a.example'], ['A.example', 'b.example'])).toBe(true)
  expect(sameTargets('AAAA', ['2001:DB8:0::1'], ['2001:db8::1'])).toBe(true)
})

it('every address counts, not only the first that is spelled differently', () => {
  expect(sameTargets('AAAA', ['2001:DB8::1', '2001:db8::2'], ['2001:db8::1', '2001:db8::3'])).toBe(false)
})

it('letter case makes a difference in texts', () => {
  expect(sameTargets('TXT', ['Token'], ['token'])).toBe(false)
})

it('fewer targets come before more, addresses before names, smaller before larger', () => {
  const lists = [
    ['192.0.2.1', '192.0.2.2'],
    ['b.example'],
    ['2001:db8::1'],
    ['10.0.0.1'],
    ['1-2-3-4.example'],
    ['9.0.0.1'],
    ['192.0.2.1', '10.0.0.1'],
  ]
  expect(lists.toSorted(compareTargets).map((targets) => targets.join(' '))).toEqual([
    ...['9.0.0.1', '10.0.0.1', '2001:db8::1', '1-2-3-4.example', 'b.example'],
    ...['192.0.2.1 10.0.0.1', '192.0.2.1 192.0.2.2'],
  ])
})

it('the same addresses in other words are the same place in the order', () => {
  expect(compareTargets(['2001:DB8:0::1', '2001:db8::2'], ['2001:db8::2', '2001:db8::1'])).toBe(0)
})

it('of many or long targets so much is shown as people read', () => {
  expect(showTargets(['a', 'b'])).toBe('a b')
  expect(showTargets(Array.from({ length: 5000 }, (_, i) => `t${i}`))).toBe('t0 t1 t2 t3 t4 and 4995 more')
  expect(showTargets(['x'.repeat(10_000)])).toHaveLength(101)
})
