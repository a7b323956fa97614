// npm run fuzz -- [--cases N | --seconds N] [--seed S] [--target messages|zones|text|codec|all] [--from N]
//
// A million cases by default. The same seed makes the same cases; a failure is written to a file and ends the run.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { type CampaignFailure, runCampaign, TARGET_NAMES } from './campaign.ts'
import type { WatchdogData } from './watchdog.ts'

const DEFAULT_CASES = 1_000_000
const PROGRESS_MS = 5000

const { values } = parseArgs({
  options: {
    cases: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    target: { type: 'string', default: 'all' },
    from: { type: 'string', default: '0' },
  },
})

const targets = TARGET_NAMES.filter((name) => values.target === 'all' || values.target === name)
const [seed, from] = [Number(values.seed), Number(values.from)]
const seconds = values.seconds === undefined ? Number.POSITIVE_INFINITY : Number(values.seconds)
const cases = Number(values.cases ?? (values.seconds === undefined ? DEFAULT_CASES : Number.POSITIVE_INFINITY))
if (targets.length === 0 || [seed, from, seconds, cases].some((number) => Number.isNaN(number) || number < 0)) {
  say('usage: npm run fuzz -- [--cases N | --seconds N] [--seed S] [--target messages|zones|text|codec|all] [--from N]')
  process.exit(2)
}

const place = new Int32Array(new SharedArrayBuffer(12))
const watchdog = new Worker(new URL('./watchdog.ts', import.meta.url), {
  workerData: { place, targets, seed } satisfies WatchdogData,
})
const started = performance.now()
let told = started
say(`seed ${seed}, targets ${targets.join(' ')}`)
const result = runCampaign({
  seed,
  targets,
  cases,
  from,
  goOn(done) {
    const now = performance.now()
    if (now - told >= PROGRESS_MS) {
      say(summary(done))
      told = now
    }
    return now - started < seconds * 1000
  },
  onCase(target, index) {
    Atomics.add(place, 0, 1)
    Atomics.store(place, 1, targets.indexOf(target))
    Atomics.store(place, 2, index)
  },
})
await watchdog.terminate()
say(summary(result.cases))
if (result.failure !== undefined) report(result.failure)

function report({ target, index, error, description }: CampaignFailure): void {
  const file = join(mkdtempSync(join(tmpdir(), 'holdfast-fuzz-')), `${target}-${seed}-${index}.txt`)
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
  writeFileSync(file, description, 'latin1')
  say(`failed: ${target} case ${index}: ${reason}\n\n${description.slice(0, 2000)}`)
  say(`the whole case: ${file}`)
  say(`run again: npm run fuzz -- --seed ${seed} --target ${target} --from ${index} --cases 1`)
  process.exitCode = 1
}

function summary(done: number): string {
  const elapsed = (performance.now() - started) / 1000
  return `${done} cases in ${elapsed.toFixed(1)} s, ${Math.round(done / elapsed)} per second`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
