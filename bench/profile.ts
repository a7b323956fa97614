// Where our server spends its time: `node bench/profile.ts [--mix hit] [--transport udp] [--records 10000] [--seconds 5]`
// runs it under load with V8's sampling profiler and prints, thread by thread, the functions with the most self time.
// A call into the kernel counts for the function that makes it.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { dnsperf, type Transport } from './load.ts'
import { MIXES, type Mix, writeQueries } from './mixes.ts'
import { findContestants } from './peers.ts'
import type { Peer } from './peers/peer.ts'
import { Workplace } from './processes.ts'
import { serve } from './server.ts'
import { formatTable } from './table.ts'
import { writeBigZone } from './zones.ts'

const SHOWN = 20
const NOT_WORK = new Set(['(root)', '(idle)'])

/** The part we read of what `--cpu-prof` writes: microseconds between samples, and the node each sample hit. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

function formatProfile({ nodes, samples, timeDeltas }: CpuProfile): string {
  const labels = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName || '(anonymous)'}${url === '' ? '' : ` ${basename(url)}:${lineNumber + 1}`}`,
    ]),
  )
  const selfMicros = new Map<string, number>()
  for (const [i, id] of samples.entries()) {
    const label = labels.get(id) ?? '(unknown)'
    if (!NOT_WORK.has(label)) selfMicros.set(label, (selfMicros.get(label) ?? 0) + timeDeltas[i])
  }
  const total = [...selfMicros.values()].reduce((sum, micros) => sum + micros, 0)
  const rows = [...selfMicros].toSorted((a, b) => b[1] - a[1]).slice(0, SHOWN)
  return formatTable(
    ['function', 'self ms', 'share'],
    rows.map(([label, micros]) => [label, (micros / 1000).toFixed(0), `${((100 * micros) / total).toFixed(1)} %`]),
  )
}

const { values } = parseArgs({
  options: {
    mix: { type: 'string', default: 'hit' },
    transport: { type: 'string', default: 'udp' },
    records: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '5' },
  },
})

if (!Object.hasOwn(MIXES, values.mix)) {
  throw new RangeError(`Cannot use --mix "${values.mix}": not known; one of ${Object.keys(MIXES).join(', ')} is wanted`)
}
using place = new Workplace()
const profiles = join(place.directory, 'profiles')
const zones = join(place.directory, 'zones')
for (const directory of [profiles, zones]) mkdirSync(directory)
const [ours] = await findContestants(['holdfast'])
const env = { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}` }
const prepare: Peer['prepare'] = async (program, setup) => ({ ...(await ours.peer.prepare(program, setup)), env })
const profiled = { ...ours, peer: { ...ours.peer, prepare } }

const zone = await writeBigZone(zones, 'bench.example.', Number(values.records))
const queries = await writeQueries(place.directory, zone, values.mix as Mix)
const { server, port } = await serve(place, profiled, zone, 1)
const { completed, seconds } = await dnsperf(place, {
  port,
  transport: values.transport as Transport,
  queryFile: queries.path,
  seconds: Number(values.seconds),
  cores: String(availableParallelism() - 1),
})
await server.stop()
process.stdout.write(`${completed} answers in ${seconds.toFixed(1)} s\n`)
for (const file of readdirSync(profiles).toSorted()) {
  const profile = JSON.parse(readFileSync(join(profiles, file), 'utf8')) as CpuProfile
  process.stdout.write(`\n${file}\n${formatProfile(profile)}`)
}
