// Zone loading: each server is started on the same directory, alone, in random order per round; CPU time until it has
// come to rest, wall time until it answers, and what it then keeps in memory.

import type { Contestant, PeerName } from './peers.ts'
import { type Memory, treeMemory } from './proc.ts'
import type { Workplace } from './processes.ts'
import { seededRandom, shuffle } from './random.ts'
import type { Hooks } from './rounds.ts'
import { serve } from './server.ts'
import type { ZoneSet } from './zones.ts'

export interface LoadSample extends Memory {
  readonly wallSeconds: number
  readonly cpuSeconds: number
}

export interface LoadResult {
  /** What was loaded: `1,000,000 records`. */
  readonly what: string
  readonly peer: PeerName
  readonly samples: LoadSample[]
}

export async function loadRounds(
  place: Workplace,
  contestants: readonly Contestant[],
  what: string,
  zones: ZoneSet,
  plan: { readonly rounds: number; readonly workers: number },
  hooks: Hooks,
): Promise<LoadResult[]> {
  const results = contestants.map(({ name }): LoadResult => ({ what, peer: name, samples: [] }))
  const random = seededRandom(Date.now())
  for (let round = 1; round <= plan.rounds; round++) {
    for (const who of shuffle(contestants, random)) {
      const { server, wallSeconds, cpuSeconds } = await serve(place, who, zones, plan.workers)
      const memory = treeMemory(server.pid)
      await server.stop()
      results.find(({ peer }) => peer === who.name)?.samples.push({ wallSeconds, cpuSeconds, ...memory })
      const megabytes = Math.round(memory.pssBytes / 2 ** 20)
      hooks.progress(
        `load ${round}/${plan.rounds} ${what} ${who.peer.title}: ${cpuSeconds.toFixed(2)} s CPU, ${megabytes} MB`,
      )
    }
  }
  return results
}
