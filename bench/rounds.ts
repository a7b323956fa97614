// The query rounds. All servers are up with the same zone; in each round, for each transport and mix, every server is
// measured once, in random order, so that what else the machine does falls on all of them alike.

import { mkdtemp } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { dnsperf, measure, type Sample, type Transport } from './load.ts'
import { type Mix, type QueryFile, writeQueries } from './mixes.ts'
import type { Contestant, PeerName } from './peers.ts'
import type { Workplace } from './processes.ts'
import { seededRandom, shuffle } from './random.ts'
import { type ServedZones, serve } from './server.ts'
import { wrongAnswers, wrongCounts } from './verify.ts'
import { writeBigZone } from './zones.ts'

const WARM_UP_SECONDS = 0.5
/** The first time, long enough for just-in-time compilers and allocators to settle. */
const FIRST_WARM_UP_SECONDS = 2

export interface Plan {
  readonly rounds: number
  readonly seconds: number
  readonly workers: number
  readonly mixes: readonly Mix[]
  readonly transports: readonly Transport[]
}

export interface QueryResult {
  readonly records: number
  readonly transport: Transport
  readonly mix: Mix
  readonly peer: PeerName
  /** One per round. */
  readonly samples: Sample[]
}

export interface Hooks {
  progress(line: string): void
  wrong(line: string): void
}

interface Case {
  readonly transport: Transport
  readonly mix: Mix
  readonly queries: QueryFile
}

interface Entry {
  readonly who: Contestant
  readonly served: ServedZones
}

export async function queryRounds(
  place: Workplace,
  contestants: readonly Contestant[],
  records: number,
  plan: Plan,
  hooks: Hooks,
): Promise<QueryResult[]> {
  const zone = await writeBigZone(await mkdtemp(join(place.directory, 'zones-')), 'bench.example.', records)
  const cases: Case[] = []
  for (const mix of plan.mixes) {
    const queries = await writeQueries(place.directory, zone, mix)
    for (const transport of plan.transports) cases.push({ transport, mix, queries })
  }

  const entries: Entry[] = []
  for (const who of contestants) {
    const served = await serve(place, who, zone, plan.workers)
    hooks.progress(`${who.peer.title} serves ${records} records after ${served.wallSeconds.toFixed(1)} s`)
    entries.push({ who, served })
  }

  const results: QueryResult[] = []
  for (const { transport, mix, queries } of cases) {
    for (const { who, served } of entries) {
      for (const line of await wrongAnswers(served.port, transport, queries)) hooks.wrong(`${who.peer.title}: ${line}`)
      results.push({ records, transport, mix, peer: who.name, samples: [] })
    }
  }

  const random = seededRandom(Date.now())
  for (let round = 1; round <= plan.rounds; round++) {
    const warmUpSeconds = round === 1 ? FIRST_WARM_UP_SECONDS : WARM_UP_SECONDS
    for (const each of cases) {
      for (const { who, served } of shuffle(entries, random)) {
        const sample = await measureOne(place, { who, served }, each, warmUpSeconds, plan.seconds)
        const label = `round ${round}/${plan.rounds} ${records} ${each.transport} ${each.mix} ${who.peer.title}`
        hooks.progress(`${label}: ${sample.cpuMicros.toFixed(2)} µs, ${Math.round(sample.queriesPerSecond)} q/s`)
        for (const line of wrongCounts(sample, each.queries, plan.seconds)) hooks.wrong(`${label}: ${line}`)
        const same = (r: QueryResult) => r.transport === each.transport && r.mix === each.mix && r.peer === who.name
        results.find(same)?.samples.push(sample)
      }
    }
  }
  for (const { served } of entries) await served.server.stop()
  return results
}

async function measureOne(
  place: Workplace,
  entry: Entry,
  asked: Case,
  warmUpSeconds: number,
  seconds: number,
): Promise<Sample> {
  const { server, port } = entry.served
  const cores = String(availableParallelism() - 1)
  const load = { port, transport: asked.transport, queryFile: asked.queries.path, cores }
  let cause: unknown
  try {
    await dnsperf(place, { ...load, seconds: warmUpSeconds })
    const sample = await measure(place, server.pid, { ...load, seconds })
    if (sample.queriesPerSecond > 0 && !server.ended) return sample
  } catch (error) {
    cause = error // dnsperf fails when it cannot connect
  }
  const state = server.ended ? 'it has ended' : `it gives no answers by ${asked.transport}`
  throw new Error(`Cannot measure ${entry.who.peer.title}: ${state}; it said:\n${server.lastWords()}`, { cause })
}
