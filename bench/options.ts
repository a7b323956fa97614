// The command line of `npm run bench:dns`.

import { parseArgs } from 'node:util'
import { chosen, positive } from './arguments.ts'
import type { Transport } from './load.ts'
import { MIXES, type Mix } from './mixes.ts'
import { PEER_NAMES } from './peers.ts'

const TRANSPORTS: readonly Transport[] = ['udp', 'tcp']
const PHASES = ['queries', 'loading'] as const
const SIZES: Readonly<Record<string, number>> = { '10k': 10_000, '100k': 100_000, '1M': 1_000_000 }

export const USAGE = `Usage: npm run bench:dns -- [options]
  --peers LIST       of ${PEER_NAMES.join(',')} (default: all)
  --previous FILE    bin/holdfast of another checkout, compared as "Holdfast before"
  --sizes LIST       records in the zone: of ${Object.keys(SIZES).join(',')} (default: 10k,1M)
  --mixes LIST       of ${Object.keys(MIXES).join(',')} (default: all)
  --transports LIST  of ${TRANSPORTS.join(',')} (default: both)
  --phases LIST      of ${PHASES.join(',')} (default: both)
  --rounds N         measurements of each server and mix (default: 5)
  --seconds N        length of one measurement (default: 2)
  --workers N        workers of each server, on as many cores (default: 1)
  --quick            10k, hit and mixed, 1 round of 1 second, smaller loads; writes no document
  --json FILE        write every sample as JSON
  --document FILE    write the tables as Markdown (default: docs/benchmarks.md, unless --quick)`

export interface Options {
  readonly peers: typeof PEER_NAMES
  readonly previous: string | undefined
  readonly sizes: readonly number[]
  readonly mixes: readonly Mix[]
  readonly transports: readonly Transport[]
  readonly phases: readonly (typeof PHASES)[number][]
  readonly rounds: number
  readonly seconds: number
  readonly workers: number
  readonly quick: boolean
  readonly json: string | undefined
  readonly document: string | undefined
}

export function parseOptions(args: string[]): Options {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    options: {
      peers: text,
      previous: text,
      sizes: text,
      mixes: text,
      transports: text,
      phases: text,
      rounds: text,
      seconds: text,
      workers: text,
      quick: { type: 'boolean', default: false },
      json: text,
      document: text,
    },
  })
  const { quick } = values
  return {
    peers: chosen('peers', values.peers, PEER_NAMES, PEER_NAMES),
    previous: values.previous,
    sizes: chosen('sizes', values.sizes, Object.keys(SIZES), quick ? ['10k'] : ['10k', '1M']).map(
      (size) => SIZES[size],
    ),
    mixes: chosen('mixes', values.mixes, Object.keys(MIXES) as Mix[], quick ? ['hit', 'mixed'] : undefined),
    transports: chosen('transports', values.transports, TRANSPORTS),
    phases: chosen('phases', values.phases, PHASES),
    rounds: positive('rounds', values.rounds, quick ? 1 : 5),
    seconds: positive('seconds', values.seconds, quick ? 1 : 2),
    workers: positive('workers', values.workers, 1),
    quick,
    json: values.json,
    document: values.document ?? (quick ? undefined : 'docs/benchmarks.md'),
  }
}
