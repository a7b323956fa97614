// `npm run bench:dns`: Holdfast against NSD, Knot, BIND and CoreDNS in interleaved rounds. Progress goes to standard
// error, tables to standard output; the exit code is 1 when any server gave wrong answers.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { formatDocument, formatVerdicts, machine } from './document.ts'
import { type LoadResult, loadRounds } from './loading.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { findContestants } from './peers.ts'
import { Workplace } from './processes.ts'
import { formatLoads, formatQueries, formatSummary } from './report.ts'
import { type QueryResult, queryRounds } from './rounds.ts'
import { withSectionsOf } from './section.ts'
import { judgeLoads, judgeQueries } from './targets.ts'
import { writeBigZone, writeSmallZones, type ZoneSet } from './zones.ts'

const count = (n: number): string => n.toLocaleString('en')

async function bench(options: Options, commandLine: string): Promise<number> {
  using place = new Workplace()
  const started = performance.now()
  const wrong: string[] = []
  const hooks = {
    progress(line: string) {
      process.stderr.write(`[${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s] ${line}\n`)
    },
    wrong(line: string) {
      wrong.push(line)
      hooks.progress(`WRONG ${line}`)
    },
  }

  const contestants = await findContestants(options.peers, options.previous)
  const titles = Object.fromEntries(contestants.map(({ name, peer, version }) => [name, `${peer.title} ${version}`]))
  hooks.progress(Object.values(titles).join(', '))

  const queries: QueryResult[] = []
  if (options.phases.includes('queries')) {
    for (const records of options.sizes)
      queries.push(...(await queryRounds(place, contestants, records, options, hooks)))
  }

  const loads: LoadResult[] = []
  const bigRecords = options.quick ? 100_000 : 1_000_000
  const bigLoad = `${count(bigRecords)} records`
  if (options.phases.includes('loading')) {
    const load = async (what: string, zones: ZoneSet) =>
      loads.push(...(await loadRounds(place, contestants, what, zones, options, hooks)))
    await load(bigLoad, await writeBigZone(await mkdtemp(join(place.directory, 'big-')), 'bench.example.', bigRecords))
    const zones = options.quick ? 1_000 : 10_000
    await load(`${count(zones)} zones`, await writeSmallZones(await mkdtemp(join(place.directory, 'small-')), zones))
  }

  const verdicts = [...judgeQueries(queries), ...judgeLoads(loads, bigLoad)]
  const details = [formatQueries(queries, titles), formatLoads(loads, titles)]
  process.stdout.write([...details, formatSummary(queries, titles), formatVerdicts(verdicts)].join('\n'))
  const result = { options, contestants, titles, queries, loads, verdicts, wrong }
  if (options.json !== undefined)
    writeFileSync(options.json, JSON.stringify({ machine: machine(), ...result }, null, 2))
  if (options.document !== undefined) {
    const before = existsSync(options.document) ? readFileSync(options.document, 'utf8') : ''
    writeFileSync(options.document, withSectionsOf(before, formatDocument(result, commandLine)))
  }
  return wrong.length === 0 ? 0 : 1
}

try {
  const args = process.argv.slice(2)
  const commandLine = ['npm run bench:dns', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
  process.exitCode = await bench(parseOptions(args), commandLine)
} catch (error) {
  const usage = error instanceof RangeError || (error instanceof TypeError && 'code' in error)
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage ? `${USAGE}\n` : ''}`)
  process.exitCode = usage ? 2 : 1
}
