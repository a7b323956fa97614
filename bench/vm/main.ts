// `npm run bench:vm`: what it takes to put a thousand virtual machines on paper, and seconds from `up` to healthy, by what
// machines are at. Progress goes to standard error, tables to standard output; docs/benchmarks.md gets them as a section.

import { readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { machine } from '../document.ts'
import { withSection } from '../section.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { type Rendering, renderOnce } from './rendering.ts'
import { formatRun, formatSection, type Run } from './report.ts'
import { type Kind, type UpResult, upOnce } from './up.ts'

async function bench({ phases, rounds, json, document }: Options, commandLine: string): Promise<void> {
  const load = loadavg()
  const renderings: Rendering[] = []
  if (phases.includes('rendering')) {
    // The first one also compiles what the others only run.
    await renderOnce()
    for (let round = 0; round < rounds; round++) renderings.push(await renderOnce())
  }
  const ups: UpResult[] = []
  for (const kind of ['containers', 'machines'] satisfies Kind[]) {
    if (!phases.includes(kind)) continue
    process.stderr.write(`${kind}: up\n`)
    ups.push(await upOnce(kind))
  }
  const run: Run = { load, renderings, ups }
  process.stdout.write(formatRun(run))
  if (json !== undefined) writeFileSync(json, JSON.stringify({ machine: machine(), ...run }, null, 2))
  writeFileSync(document, withSection(readFileSync(document, 'utf8'), 'vm', formatSection(run, commandLine)))
}

try {
  const args = process.argv.slice(2)
  const commandLine = ['npm run bench:vm', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
  await bench(parseOptions(args), commandLine)
} catch (error) {
  const usage = error instanceof RangeError || (error instanceof TypeError && 'code' in error)
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage ? `${USAGE}\n` : ''}`)
  process.exitCode = usage ? 2 : 1
}
