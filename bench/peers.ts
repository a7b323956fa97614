// The servers that are compared. Every one is set up as a careful operator would for plain authoritative service:
// no rate limit, no query log, minimal answers, the asked number of workers.

import { bind } from './peers/bind.ts'
import { coredns } from './peers/coredns.ts'
import { holdfast } from './peers/holdfast.ts'
import { knot } from './peers/knot.ts'
import { nsd } from './peers/nsd.ts'
import type { Peer } from './peers/peer.ts'

const PEERS = { holdfast, nsd, knot, bind, coredns } as const
export const PEER_NAMES = Object.keys(PEERS) as readonly (keyof typeof PEERS)[]
/** `previous` is another build of Holdfast, to compare before and after a change. */
export type PeerName = keyof typeof PEERS | 'previous'

/** A peer that is there, with its program found and its version read. */
export interface Contestant {
  readonly name: PeerName
  readonly peer: Peer
  readonly program: string
  readonly version: string
}

export async function findContestants(names: typeof PEER_NAMES, previous?: string): Promise<Contestant[]> {
  const found: Contestant[] = []
  for (const name of names) {
    const peer = PEERS[name]
    const program = await peer.locate()
    if (program !== undefined) found.push({ name, peer, program, version: await peer.version(program) })
  }
  if (previous !== undefined) {
    const peer = { ...holdfast, title: 'Holdfast before' }
    found.push({ name: 'previous', peer, program: previous, version: await peer.version(previous) })
  }
  return found
}
