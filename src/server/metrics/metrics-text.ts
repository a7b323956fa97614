// Writes the Prometheus text exposition format, version 0.0.4: for each family a HELP and a TYPE line, then all its
// samples. Labels are written in the order given: by convention alphabetical, as CoreDNS's are. With 10,000 zones a
// text has some 60,000 lines, and while it is made nothing else runs on this thread: hence plain concatenation.

import type { HistogramCounts } from '../stats.ts'

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export type Labels = Readonly<Record<string, string>>

export class MetricsText {
  #text = ''
  #name = ''

  /** Starts a family; the samples that follow belong to it. A family may be started once only. */
  family(name: string, type: 'counter' | 'gauge' | 'histogram', help: string): void {
    this.#name = name
    this.#text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`
  }

  sample(value: number, labels: Labels = {}): void {
    this.#line(this.#name, formatLabels(labels), value)
  }

  /** Bucket counts come as they were counted; the format wants them cumulative. */
  histogram(counts: HistogramCounts, labels: Labels = {}): void {
    const text = formatLabels(labels)
    const before = text === '' ? '' : `${text},`
    let total = 0
    for (const [bucket, count] of counts.buckets.entries()) {
      total += count
      const bound = bucket < counts.bounds.length ? formatValue(counts.bounds[bucket]) : '+Inf'
      this.#line(`${this.#name}_bucket`, `${before}le="${bound}"`, total)
    }
    this.#line(`${this.#name}_sum`, text, counts.sum)
    this.#line(`${this.#name}_count`, text, total)
  }

  toString(): string {
    return this.#text
  }

  #line(name: string, labels: string, value: number): void {
    this.#text += `${name}${labels === '' ? '' : `{${labels}}`} ${formatValue(value)}\n`
  }
}

function formatLabels(labels: Labels): string {
  let text = ''
  for (const name of Object.keys(labels)) text += `${text === '' ? '' : ','}${name}="${escapeLabel(labels[name])}"`
  return text
}

/** JavaScript writes numbers as Go's ParseFloat reads them, but for the infinities. */
function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}

function escapeLabel(text: string): string {
  return /[\\"\n]/u.test(text) ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : text
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
