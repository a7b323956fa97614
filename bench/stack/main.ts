// `npm run bench:stack`: what it takes to bring a whole stack up, to lose its primary, to leave it alone, and to plan a large one.
// Progress goes to standard error, tables to standard output; docs/benchmarks.md gets them as a section.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import type { MemberLab } from '../../test/support/member-lab.ts'
import { machine } from '../document.ts'
import { withSection } from '../section.ts'
import { failoverRounds } from './failover.ts'
import { idleCosts } from './idle.ts'
import { withLab } from './lab.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { planRounds } from './plan.ts'
import { formatRun, formatSection, type Run } from './report.ts'
import { startRounds } from './starts.ts'

async function bench(options: Options, commandLine: string): Promise<void> {
  const load = loadavg()
  const started = performance.now()
  const progress = (line: string) =>
    process.stderr.write(`[${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s] ${line}\n`)
  const { phases, rounds, idleSeconds } = options
  const plan = phases.includes('plan') ? await planRounds(rounds, progress) : undefined
  const starts = phases.includes('starts') ? await startRounds(rounds, progress) : []
  const measureLab = async (lab: MemberLab) => {
    await lab.up()
    return {
      idle: phases.includes('idle') ? await idleCosts(lab, idleSeconds, progress) : [],
      failover: phases.includes('failover') ? await failoverRounds(lab, rounds, progress) : undefined,
    }
  }
  const needsLab = phases.includes('idle') || phases.includes('failover')
  const { idle, failover } = needsLab ? await withLab(measureLab) : { idle: [], failover: undefined }

  const run: Run = { options, load, starts, plan, idle, failover }
  process.stdout.write(formatRun(run))
  if (options.json !== undefined) writeFileSync(options.json, JSON.stringify({ machine: machine(), ...run }, null, 2))
  if (options.document === undefined) return
  const page = existsSync(options.document) ? readFileSync(options.document, 'utf8') : ''
  writeFileSync(options.document, withSection(page, 'stack', formatSection(run, commandLine)))
}

try {
  const args = process.argv.slice(2)
  const commandLine = ['npm run bench:stack', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
  await bench(parseOptions(args), commandLine)
} catch (error) {
  const usage = error instanceof RangeError || (error instanceof TypeError && 'code' in error)
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage ? `${USAGE}\n` : ''}`)
  process.exitCode = usage ? 2 : 1
}
