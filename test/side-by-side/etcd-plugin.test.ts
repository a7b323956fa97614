// The same keys in a real etcd, the same Corefile and the same questions for ours and for CoreDNS with its etcd plugin.
// Every difference must be covered by a rule that has its row in docs/reference/deviations.md.
// HOLDFAST_SIDE_BY_SIDE=report prints how often each rule was needed; =SEED asks about other random trees.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Rule } from '../conformance/compare.ts'
import { formatVerdicts, judge, type Verdict } from '../conformance/run.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { rulesFor } from './rules.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import { coredns, findCoredns, holdfastCorefile, MISSING, startBoth } from './servers.ts'
import { store } from './store.ts'
import { askAll } from './transcript.ts'

const mode = process.env.HOLDFAST_SIDE_BY_SIDE ?? ''
const seed = Number.isInteger(Number(mode)) ? Number(mode) : 0
const SHOWN = 5
const LIMIT_MS = 120_000

const program = findCoredns()
if (program === undefined) console.warn(MISSING)

describe.skipIf(program === undefined)('CoreDNS with its etcd plugin', () => {
  let cluster: EtcdCluster
  beforeAll(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
  }, LIMIT_MS)
  afterAll(() => cluster?.stop())

  for (const scenario of SCENARIOS)
    it(
      `answers as we do: ${scenario.title}`,
      async () => {
        const { verdict, rules, queries } = await run(scenario)
        if (mode !== '') console.info(formatVerdicts([verdict], rules, queries))
        expect(queries).toBeGreaterThan(scenario.least)
        const { unexplained } = verdict
        expect(`${unexplained.length} unexplained\n${unexplained.slice(0, SHOWN).join('\n')}`).toBe('0 unexplained\n')
      },
      LIMIT_MS,
    )

  async function run(scenario: Scenario): Promise<{ verdict: Verdict; rules: readonly Rule[]; queries: number }> {
    await using prepared = await scenario.prepare(seed)
    const { prefix, trees, queries } = prepared
    await store(
      cluster.options,
      trees.flatMap(({ keys }) => keys),
    )
    const corefile = (port: number) => prepared.corefile(port, cluster.endpoints[0])
    const zones = trees.map(({ zone }) => zone)
    await using servers = await startBoth(holdfastCorefile(corefile), coredns(program ?? '', corefile), zones)
    const [ours, theirs] = await Promise.all([servers.ours, servers.theirs].map(({ port }) => askAll(port, queries)))
    const rules = rulesFor(prefix, trees)
    const transcripts = [
      { server: 'holdfast', responses: ours },
      { server: 'coredns', responses: theirs },
    ] as const
    return { verdict: judge(queries, ...transcripts, rules), rules, queries: queries.length }
  }
})
