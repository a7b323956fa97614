// The process_* families every Prometheus client library exports. File descriptors and address space come from
// /proc; where there is none, those are left out.

import { readdirSync, readFileSync } from 'node:fs'
import type { MetricsText } from './metrics-text.ts'

const PAGE_BYTES = 4096

export function writeProcessMetrics(text: MetricsText): void {
  const { user, system } = process.cpuUsage()
  text.family('process_cpu_seconds_total', 'counter', 'Total user and system CPU time spent in seconds.')
  text.sample((user + system) / 1e6)
  text.family('process_start_time_seconds', 'gauge', 'Start time of the process since unix epoch in seconds.')
  text.sample(Math.round(performance.timeOrigin) / 1000)
  text.family('process_resident_memory_bytes', 'gauge', 'Resident memory size in bytes.')
  text.sample(process.memoryUsage.rss())
  gauge(text, 'process_virtual_memory_bytes', 'Virtual memory size in bytes.', virtualBytes)
  gauge(text, 'process_open_fds', 'Number of open file descriptors.', openFiles)
  gauge(text, 'process_max_fds', 'Maximum number of open file descriptors.', maxFiles)
}

function gauge(text: MetricsText, name: string, help: string, read: () => number): void {
  let value: number
  try {
    value = read()
  } catch {
    return
  }
  text.family(name, 'gauge', help)
  text.sample(value)
}

function virtualBytes(): number {
  return Number.parseInt(readFileSync('/proc/self/statm', 'latin1'), 10) * PAGE_BYTES
}

/** One less than listed: the listing itself holds one. */
function openFiles(): number {
  return readdirSync('/proc/self/fd').length - 1
}

function maxFiles(): number {
  const limit = /^Max open files +(\S+)/mu.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
}
