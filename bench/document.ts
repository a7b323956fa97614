// docs/benchmarks.md: the tables of one run, with everything needed to judge and to repeat it.

import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { dnsperfArguments, type Transport } from './load.ts'
import type { LoadResult } from './loading.ts'
import type { Options } from './options.ts'
import type { Contestant } from './peers.ts'
import { formatLoads, formatQueries, formatSummary, type Titles } from './report.ts'
import type { QueryResult } from './rounds.ts'
import { formatTable } from './table.ts'
import type { Verdict } from './targets.ts'

export interface Run {
  readonly options: Options
  readonly contestants: readonly Contestant[]
  readonly titles: Titles
  readonly queries: readonly QueryResult[]
  readonly loads: readonly LoadResult[]
  readonly verdicts: readonly Verdict[]
  readonly wrong: readonly string[]
}

export function formatVerdicts(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ claim, met, detail }) => [claim, met ? 'yes' : 'no', detail])
  return formatTable(['wanted', 'met', 'ours to theirs'], rows)
}

export function formatDocument(run: Run, commandLine: string): string {
  const { options, contestants, titles, queries, loads, verdicts, wrong } = run
  const dnsperf = (transport: Transport) =>
    dnsperfArguments({ port: 53, transport, queryFile: 'FILE', seconds: options.seconds, cores: '' }).join(' ')
  const settings = contestants.map(({ peer, version }) => `- ${peer.title} ${version}: ${peer.settings}`)
  return `# Benchmarks

Written by \`${commandLine}\` on ${new Date().toISOString().slice(0, 10)}; run it again to get this page for your machine.
Numbers are medians of ${options.rounds} rounds, with minimum and maximum; lower is better, except for queries per second.
Ratios carry over between machines, absolute times do not.

## Summary

${[formatVerdicts(verdicts), formatSummary(queries, titles)].join('\n').trim()}

## How it was made

- Machine: ${machine()}.
- Zone: groups of 20 records each: 10 hosts (A, some with AAAA), 2 CNAMEs, 1 MX, 1 wildcard, 1 delegation with glue.
  The mixes ask for existing hosts (hit), names that are not there (nxdomain), names under a wildcard, aliases of hosts in
  the zone (cname), names below a delegation (referral), and a mixture: 55 % hit, 15 % AAAA (7 of 10 without data), 5 % MX,
  10 % nxdomain, 5 % each of wildcard, cname and referral. 100,000 questions per file, drawn at random with a fixed seed.
- All servers run at the same time, each pinned to the first ${options.workers === 1 ? 'core' : `${options.workers} cores`}, with ${options.workers} worker${options.workers === 1 ? '' : 's'}; only one is asked at a time. In each round,
  for each mix, every server is measured once, in random order, for ${options.seconds} s after a warm-up.
- Load, pinned to the last core:
${options.transports.map((transport) => `  - \`dnsperf ${dnsperf(transport)}\``).join('\n')}
- CPU time: user and system time of all threads and processes of the server, from \`/proc/PID/stat\`, over the measurement,
  divided by the answers dnsperf counted. Busy cores near ${options.workers} mean that the server, not dnsperf, was the limit.
- Answers are checked: a sample of each mix against the zone's content before the rounds, rcodes and losses in every one.
${wrong.length === 0 ? '  Nothing was wrong in this run.' : `  Wrong in this run:\n${wrong.map((line) => `  - ${line}`).join('\n')}`}
- Loading: from the start to the right answer for 100 zones spread over the directory (wall) and until the CPU is at rest
  (CPU). Memory is the proportional set size of all processes then; peak is the highest resident size of the largest one.

The servers and their settings:

${settings.join('\n')}

## Results

${[formatQueries(queries, titles), formatLoads(loads, titles)].join('\n').trim()}
`
}

export function machine(): string {
  const system = /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux'
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${system}, Linux ${release().replace(/-.*/, '')}, ${availableParallelism()} × ${cpus()[0].model}, ${memory} GB`
}
