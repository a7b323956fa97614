// `npm run bench:live`: how soon names in etcd are answered, what SkyDNS questions cost, and what starts take, beside CoreDNS.
// Progress goes to standard error, tables to standard output; docs/benchmarks.md gets them as a section.

import { readFileSync, writeFileSync } from 'node:fs'
import { machine } from '../document.ts'
import { coredns } from '../peers/coredns.ts'
import { holdfast } from '../peers/holdfast.ts'
import { Workplace } from '../processes.ts'
import { withSection } from '../section.ts'
import { Etcd } from './etcd.ts'
import { latencyRounds } from './latency.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { queryRounds } from './queries.ts'
import { formatRun, formatSection, type Run } from './report.ts'
import type { Stage } from './stage.ts'
import { startRounds } from './starts.ts'
import { SUBJECTS } from './subjects.ts'

/** As many as there are. */
const ALL_CORES = '0-1023'

async function bench(options: Options, commandLine: string): Promise<void> {
  using place = new Workplace()
  const started = performance.now()
  const progress = (line: string) =>
    process.stderr.write(`[${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s] ${line}\n`)
  const programs = { holdfast: (await holdfast.locate()) ?? '', coredns: await coredns.locate() }
  const subjects = SUBJECTS.filter(({ isCoredns }) => !isCoredns || programs.coredns !== undefined)
  const { phases, quick } = options

  const etcd = await Etcd.start(place, ALL_CORES)
  const stage: Stage = { place, etcd, programs, workers: 1, cores: ALL_CORES }
  const versions = [
    `Holdfast ${await holdfast.version(programs.holdfast)}`,
    ...(programs.coredns === undefined ? [] : [`CoreDNS ${await coredns.version(programs.coredns)}`]),
    `etcd ${etcd.version}`,
  ].join(', ')
  progress(versions)
  const latencies = phases.includes('latency') ? await latencyRounds(stage, subjects, options, progress) : []
  const skydns = subjects.filter(({ kind }) => kind === 'skydns')
  const queries = phases.includes('queries') ? await queryRounds(stage, skydns, options, progress) : []
  etcd.close()
  await etcd.stop()
  const size = quick ? { rounds: 1, keys: 2000, zones: 200 } : { rounds: 3, keys: 100_000, zones: 10_000 }
  const starts = phases.includes('starts') ? await startRounds(stage, size, progress) : []

  const run: Run = { options, versions, latencies, queries, starts }
  process.stdout.write(formatRun(run))
  if (options.json !== undefined) writeFileSync(options.json, JSON.stringify({ machine: machine(), ...run }, null, 2))
  if (options.document === undefined) return
  const page = readFileSync(options.document, 'utf8')
  writeFileSync(options.document, withSection(page, 'live', formatSection(run, commandLine)))
}

try {
  const args = process.argv.slice(2)
  const commandLine = ['npm run bench:live', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
  await bench(parseOptions(args), commandLine)
} catch (error) {
  const usage = error instanceof RangeError || (error instanceof TypeError && 'code' in error)
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage ? `${USAGE}\n` : ''}`)
  process.exitCode = usage ? 2 : 1
}
