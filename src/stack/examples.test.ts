import { expect, test } from 'vitest'
import { examples } from './examples.ts'
import { load } from './load/testing.ts'

const STACK = 'name: lab\ndomain: lab.test\netcd: { members: 1 }\npostgres: { members: 2 }\n'

test('names, data and consensus can be tried', async () => {
  const found = examples(await load(`${STACK}dns: { servers: 1 }`), '/client')
  expect(found.map(({ purpose }) => purpose)).toEqual(['names', 'data', 'consensus'])
  expect(found[0].command).toMatch(/^dig \+short @\S+ primary\.pg\.lab\.test$/u)
})

test('a name that CoreDNS does not have is not tried', async () => {
  const found = examples(await load(`${STACK}dns: { servers: 1, engine: coredns }`), '/client')
  expect(found.map(({ purpose }) => purpose)).toEqual(['names', 'consensus'])
  expect(found[0].command).toMatch(/^dig \+short @\S+ etcd-1\.lab\.test$/u)
})
