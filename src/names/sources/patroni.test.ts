import { beforeEach, expect, test } from 'vitest'
import { formatName } from '../../dns/name.ts'
import { formatRdata } from '../../dns/rdata/rdata.ts'
import { Patroni } from './patroni.ts'

/** With the first of its servers, and a denial that lasts no longer than a name. */
const APEX = 'pg.test. ns1.test. hostmaster.pg.test. 1 7200 1800 86400 2 ns1.test. ns2.test.'

let source: Patroni
/** One array for each commit: `name address…`, or the name alone when it is taken away. */
let committed: string[][]
let problems: string[]
let revision: bigint
/** Of each commit. */
let serials: number[]
let versions: (string | undefined)[]
beforeEach(() => {
  const pending: string[] = []
  committed = []
  problems = []
  revision = 10n
  serials = []
  versions = []
  source = new Patroni({
    ...{ prefix: '/service/pg/', zone: 'pg.test.', ttlSeconds: 2, nameservers: ['ns1.test.', 'ns2.test.'] },
    part: {
      isFirst: () => true,
      set: (owner, records) => {
        const data = records.map(({ type, rdata }) => formatRdata(type, rdata))
        pending.push([formatName(owner).replace('.pg.test.', ''), ...data].join(' '))
      },
      commit: (serial, version) => {
        committed.push(pending.splice(0))
        serials.push(serial)
        versions.push(version)
      },
    },
    onProblem: (message) => problems.push(message),
  })
})

/** All of one revision. */
function change(values: Readonly<Record<string, string | undefined>>): void {
  put(values)
  source.flush()
}

function put(values: Readonly<Record<string, string | undefined>>): void {
  revision++
  for (const [name, value] of Object.entries(values))
    source.apply({
      key: Buffer.from(`/service/pg/${name}`),
      value: value === undefined ? undefined : Buffer.from(value),
      modRevision: revision,
      lease: 0n,
    })
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
    [APEX, 'replica 192.0.2.1 192.0.2.2', 'a 192.0.2.1', 'b 192.0.2.2'],
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

test('the serial is the revision that changed a name last, however the changes arrive', () => {
  change({ 'members/a': member('192.0.2.1') })
  put({ leader: 'a' })
  put({ status: '{"optime":1}' })
  source.flush()
  change({ status: '{"optime":2}' })
  change({ leader: undefined })
  expect(serials).toEqual([11, 12, 12, 15])
})

test('the same names have the same version, and a cluster without names has a serial', () => {
  source.flush()
  change({ leader: 'a', 'members/a': member('192.0.2.1', 'master') })
  change({ 'members/a': member('192.0.2.2', 'master') })
  change({ 'members/a': member('192.0.2.1', 'master') })
  expect(serials[0]).toBe(1)
  expect(new Set(versions).size).toBe(3)
  expect(versions[3]).toBe(versions[1])
})
