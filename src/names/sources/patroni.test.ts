import { beforeEach, expect, test } from 'vitest'
import { formatName } from '../../dns/name.ts'
import { formatRdata } from '../../dns/rdata/rdata.ts'
import { Patroni } from './patroni.ts'

let source: Patroni
/** One array for each commit: `name address…`, or the name alone when it is taken away. */
let committed: string[][]
let problems: string[]
let revision: bigint
beforeEach(() => {
  const pending: string[] = []
  committed = []
  problems = []
  revision = 0n
  source = new Patroni({
    ...{ prefix: '/service/pg/', zone: 'pg.test.', ttlSeconds: 2 },
    part: {
      set: (owner, records) => {
        const data = records.map(({ type, rdata }) => formatRdata(type, rdata))
        pending.push([formatName(owner).replace('.pg.test.', ''), ...data].join(' '))
      },
      commit: () => committed.push(pending.splice(0)),
    },
    onProblem: (message) => problems.push(message),
  })
})

/** All of one revision. */
function change(values: Readonly<Record<string, string | undefined>>): void {
  revision++
  for (const [name, value] of Object.entries(values))
    source.apply({
      key: Buffer.from(`/service/pg/${name}`),
      value: value === undefined ? undefined : Buffer.from(value),
      modRevision: revision,
      lease: 0n,
    })
  source.flush(revision)
}

function member(address: string, role = 'replica'): string {
  return JSON.stringify({ conn_url: `postgres://${address}:5432/postgres`, state: 'running', role })
}

test('names come and go with the keys, and those that stay are not touched', () => {
  change({ 'members/a': member('192.0.2.1'), 'members/b': member('192.0.2.2') })
  change({ leader: 'a' })
  change({ status: '{"optime":1}' })
  change({ leader: undefined })
  change({ leader: 'b', 'members/a': undefined })
  expect(committed).toEqual([
    ['replica 192.0.2.1 192.0.2.2', 'a 192.0.2.1', 'b 192.0.2.2'],
    ['primary 192.0.2.1', 'replica 192.0.2.2'],
    [],
    ['primary', 'replica 192.0.2.1 192.0.2.2'],
    ['replica', 'a', 'primary 192.0.2.2'],
  ])
})

test('what cannot be published is told once, and stays known as long as it is so', () => {
  change({ 'members/a': 'nonsense', 'members/b': member('192.0.2.2') })
  change({ leader: 'b' })
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(/^Cannot publish member "a" of pg\.test\.: /u)
  expect(source.problems()).toEqual(problems)
  change({ 'members/a': member('192.0.2.1') })
  expect(source.problems()).toEqual([])
  expect(committed.at(-1)).toEqual(['replica 192.0.2.1', 'a 192.0.2.1'])
})
