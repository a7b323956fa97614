// What is stored and asked, scene by scene. Prefixes differ, so that all share one etcd.

import { readFileSync } from 'node:fs'
import type { Query } from '../conformance/queries.ts'
import { Random } from '../fuzz/random.ts'
import { ask, questionsOf } from './questions.ts'
import { randomTree, type StoredKey, type Tree, zoneLabels } from './random-tree.ts'
import { startUpstream } from './upstream.ts'

export interface Prepared extends AsyncDisposable {
  /** Of the keys. */
  readonly prefix: string
  readonly trees: readonly Tree[]
  readonly queries: readonly Query[]
  corefile(port: number, endpoint: string): string
}

export interface Scenario {
  readonly title: string
  /** Questions there are at least. */
  readonly least: number
  prepare(seed: number): Promise<Prepared>
}

export const SCENARIOS: readonly Scenario[] = [
  {
    title: 'hundreds of random trees',
    least: 20_000,
    async prepare(seed) {
      const random = new Random(seed, 1)
      const trees = numbered(200, (zone) => randomTree(random, '/random', zone))
      return prepared('/random', trees, questions(random, '/random', trees, 0.35))
    },
  },
  {
    title: 'random trees with a forwarder and fallthrough',
    least: 3000,
    async prepare(seed) {
      const random = new Random(seed, 2)
      const trees = numbered(40, (zone) => randomTree(random, '/forwarded', zone))
      const upstream = await startUpstream()
      const outside = ['outside.example.', 'missing.example.'].map((name) => ask(name, 'A', random))
      const more = { options: 'fallthrough', directives: `forward . 127.0.0.1:${upstream.port}` }
      const queries = [...questions(random, '/forwarded', trees, 0.3), ...outside]
      return { ...prepared('/forwarded', trees, queries, more), [Symbol.asyncDispose]: () => upstream.stop() }
    },
  },
  {
    title: 'random trees with leases',
    least: 2000,
    async prepare(seed) {
      const random = new Random(seed, 3)
      // Below the least TTL, between, and above the largest.
      const leases = [120, 7200, 1_000_000]
      const trees = numbered(30, (zone) => randomTree(random, '/leased', zone, leases))
      const more = { options: 'min-lease-ttl 600\nmax-lease-ttl 24h' }
      return prepared('/leased', trees, questions(random, '/leased', trees, 0.3), more)
    },
  },
  {
    title: 'zones inside zones, reverse zones and odd keys',
    least: 300,
    async prepare(seed) {
      const random = new Random(seed, 4)
      return prepared('/odd', ODD, questions(random, '/odd', ODD, 1))
    },
  },
  {
    title: "the keys of CoreDNS's own tests",
    least: 1000,
    async prepare(seed) {
      const random = new Random(seed, 5)
      const trees = fixtureTrees('/vectors')
      return prepared('/vectors', trees, questions(random, '/vectors', trees, 1))
    },
  },
]

/** `options` stand inside the etcd block, `directives` beside it. */
function prepared(
  prefix: string,
  trees: readonly Tree[],
  queries: readonly Query[],
  { options = '', directives = '' } = {},
): Prepared {
  return {
    prefix,
    trees,
    queries,
    corefile: (port, endpoint) => `.:${port} {
  bind 127.0.0.1
  etcd ${trees.map(({ zone }) => zone).join(' ')} {
    path ${prefix}
    endpoint ${endpoint}
    ${options}
  }
  ${directives}
}
`,
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function numbered(count: number, tree: (zone: string) => Tree): Tree[] {
  return Array.from({ length: count }, (_, i) => tree(`t${i}.test.`))
}

function questions(random: Random, prefix: string, trees: readonly Tree[], share: number): Query[] {
  return trees.flatMap((tree) => questionsOf(random, prefix, tree, share))
}

function keys(zone: string, values: Readonly<Record<string, object>>): Tree {
  const stored = Object.entries(values).map(([path, value]): StoredKey => {
    const key = ['/odd', ...zoneLabels(zone), ...(path === '' ? [] : [path])].join('/')
    return { key, value: JSON.stringify(value) }
  })
  return { zone, keys: stored }
}

const address = (last: number) => ({ host: `192.0.2.${last}` })

const ODD: readonly Tree[] = [
  keys('outer.test.', {
    a: address(1),
    alias: { host: 'a.inner.outer.test' },
    'b/c': address(2),
    _services: { host: 'a.outer.test', port: 53 },
  }),
  keys('inner.outer.test.', { a: address(3), back: { host: 'a.outer.test' }, 'dns/ns/one': address(4) }),
  keys('2.0.192.in-addr.arpa.', {
    '1': { host: 'a.outer.test' },
    '2': { host: 'b.outer.test', ttl: 60 },
    '2/x': { host: 'c.outer.test' },
  }),
  keys('spelled.test.', {
    UPPER: address(6),
    'Mixed/Case': address(7),
    'trailing/': address(8),
    'with space': address(10),
    'dotted.label': address(11),
    'back\\\\slash': address(13),
    '*/stored': address(14),
    'any/stored': address(15),
    ünicode: address(16),
  }),
  keys('empty.test.', {}),
  keys('apex.test.', { '': address(5) }),
  keys(
    'many.test.',
    Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`n/k${i}`, { host: `10.1.${i >> 8}.${i & 255}` }])),
  ),
]

interface Fixture {
  readonly zones: readonly string[]
  readonly keys: readonly { readonly key: string; readonly value: { readonly host?: string } }[]
}

/** Fixtures share zones: each gets a top label of its own. */
function fixtureTrees(prefix: string): Tree[] {
  const file = new URL('../vectors/skydns.json', import.meta.url)
  const { fixtures } = JSON.parse(readFileSync(file, 'utf8')) as { fixtures: Record<string, Fixture> }
  return Object.values(fixtures).flatMap(({ zones, keys: stored }, number) => {
    const top = `f${number}`
    const moved = stored.map(({ key, value }) => {
      const inside = zones.some((zone) => `${value.host}.`.endsWith(`.${zone}`) || `${value.host}.` === zone)
      const host = inside ? { host: `${value.host}.${top}` } : {}
      return { key: key.replace('/skydns', `${prefix}/${top}`), value: JSON.stringify({ ...value, ...host }) }
    })
    return zones.map((zone) => ({
      zone: `${zone}${top}.`,
      keys: moved.filter(({ key }) => `${key}/`.startsWith(`${[`${prefix}/${top}`, ...zoneLabels(zone)].join('/')}/`)),
    }))
  })
}
