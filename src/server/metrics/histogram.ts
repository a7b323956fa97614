// A histogram for what happens on the main thread; queries are counted in shared memory instead (stats.ts).

import type { HistogramCounts } from '../stats.ts'

export class Histogram implements HistogramCounts {
  readonly bounds: readonly number[]
  readonly buckets: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.buckets = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const found = this.bounds.findIndex((bound) => value <= bound)
    this.buckets[found === -1 ? this.bounds.length : found]++
    this.sum += value
  }
}
