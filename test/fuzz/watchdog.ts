// Ends a campaign that hangs: a case that takes too long cannot report itself, as it keeps its thread busy. Runs as a
// worker; the campaign leaves its place in shared memory.

import { writeSync } from 'node:fs'
import process from 'node:process'
import { workerData } from 'node:worker_threads'

export interface WatchdogData {
  /** Cases so far, target number, case number. */
  readonly place: Int32Array
  readonly targets: readonly string[]
  readonly seed: number
}

const LONGEST_CASE_MS = 20_000

const { place, targets, seed } = workerData as WatchdogData
let before = -1
setInterval(() => {
  const cases = Atomics.load(place, 0)
  if (cases === before) {
    const [target, index] = [targets[Atomics.load(place, 1)], Atomics.load(place, 2)]
    writeSync(
      2,
      `hangs in ${target} case ${index}\nrun again: npm run fuzz -- --seed ${seed} --target ${target} --from ${index} --cases 1\n`,
    )
    process.kill(process.pid, 'SIGKILL')
  }
  before = cases
}, LONGEST_CASE_MS)
