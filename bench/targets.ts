// What Holdfast wants to be able to say of itself, held against one run. Each claim compares medians of that run.

import type { LoadResult } from './loading.ts'
import type { PeerName } from './peers.ts'
import type { QueryResult } from './rounds.ts'
import { spread } from './statistics.ts'

export interface Verdict {
  readonly claim: string
  readonly met: boolean
  /** By how much it holds, or fails. */
  readonly detail: string
}

const QUERY_LIMITS: readonly [PeerName, number, string][] = [
  ['nsd', 1, "CPU per query at or below NSD's"],
  ['knot', 1, "CPU per query at or below Knot's"],
  ['bind', 1, "CPU per query at or below BIND's"],
  ['coredns', 1 / 3, "CPU per query at most a third of CoreDNS's"],
]

const median = (result: QueryResult) => spread(result.samples.map((s) => s.cpuMicros)).median
const cpu = (samples: LoadResult['samples']) => spread(samples.map((s) => s.cpuSeconds)).median
const memory = (samples: LoadResult['samples']) => spread(samples.map((s) => s.pssBytes)).median

export function judgeQueries(results: readonly QueryResult[]): Verdict[] {
  return QUERY_LIMITS.flatMap(([peer, limit, claim]) => {
    const ratios = results
      .filter((theirs) => theirs.peer === peer)
      .flatMap((theirs) => {
        const { records, transport, mix } = theirs
        const same = (r: QueryResult) => r.records === records && r.transport === transport && r.mix === mix
        const ours = results.find((r) => r.peer === 'holdfast' && same(r))
        return ours === undefined
          ? []
          : [{ label: `${records} ${transport} ${mix}`, ratio: median(ours) / median(theirs) }]
      })
    return judge(claim, limit, ratios)
  })
}

export function judgeLoads(results: readonly LoadResult[], what: string): Verdict[] {
  const of = (peer: PeerName) => results.find((r) => r.peer === peer && r.what === what)?.samples
  const ours = of('holdfast')
  const bind = of('bind')
  const nsd = of('nsd')
  if (ours === undefined) return []
  return [
    ...judge(
      `${what} loaded in no more CPU time than BIND`,
      1,
      bind && [{ label: what, ratio: cpu(ours) / cpu(bind) }],
    ),
    ...judge(
      `${what} in no more memory than NSD × 1.5`,
      1.5,
      nsd && [{ label: what, ratio: memory(ours) / memory(nsd) }],
    ),
  ]
}

function judge(
  claim: string,
  limit: number,
  ratios: readonly { label: string; ratio: number }[] | undefined,
): Verdict[] {
  if (ratios === undefined || ratios.length === 0) return []
  const worst = ratios.reduce((a, b) => (b.ratio > a.ratio ? b : a))
  const misses = ratios.filter(({ ratio }) => ratio > limit)
  const extent = misses.length === 0 ? 'at most' : `missed in ${misses.length} of ${ratios.length}, worst`
  return [{ claim, met: misses.length === 0, detail: `${extent} ${worst.ratio.toFixed(2)}× (${worst.label})` }]
}
