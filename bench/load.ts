// One measurement: dnsperf keeps the server saturated for some seconds, and the server's CPU time over that span is
// divided by the answers dnsperf counted.

import type { Workplace } from './processes.ts'
import { cpuSeconds, treeCpu } from './proc.ts'

export type Transport = 'udp' | 'tcp'

export interface Load {
  readonly port: number
  readonly transport: Transport
  readonly queryFile: string
  readonly seconds: number
  readonly cores: string
}

export interface Sample {
  readonly userMicros: number
  readonly systemMicros: number
  readonly cpuMicros: number
  readonly queriesPerSecond: number
  /** Cores' worth of CPU the server used meanwhile: near its number of workers when saturated. */
  readonly busyCores: number
  readonly lost: number
  /** Share of each rcode among the answers. */
  readonly rcodes: Readonly<Record<string, number>>
}

/**
 * Few enough questions at once that no default socket buffer overflows (about 270 small datagrams), over enough
 * sockets that every worker of a server with SO_REUSEPORT gets its share. Two threads of dnsperf on one core ask a
 * little faster than one.
 */
const OUTSTANDING = 200
const CLIENTS = { udp: 16, tcp: 8 } as const

export async function measure(place: Workplace, pid: number, load: Load): Promise<Sample> {
  const before = treeCpu(pid)
  const report = await dnsperf(place, load)
  const after = treeCpu(pid)
  const micros = (seconds: number) => (seconds * 1e6) / report.completed
  return {
    userMicros: micros(after.userSeconds - before.userSeconds),
    systemMicros: micros(after.systemSeconds - before.systemSeconds),
    cpuMicros: micros(cpuSeconds(after) - cpuSeconds(before)),
    queriesPerSecond: report.completed / report.seconds,
    busyCores: (cpuSeconds(after) - cpuSeconds(before)) / report.seconds,
    lost: report.lost,
    rcodes: report.rcodes,
  }
}

interface Report {
  readonly completed: number
  readonly lost: number
  readonly seconds: number
  readonly rcodes: Readonly<Record<string, number>>
}

export function dnsperfArguments(load: Load): string[] {
  const { port, transport, queryFile, seconds } = load
  const many = ['-c', String(CLIENTS[transport]), '-q', String(OUTSTANDING), '-T', '2', '-t', '1']
  const target = ['-s', '127.0.0.1', '-p', String(port), '-m', transport, '-e']
  return [...target, ...many, '-l', String(seconds), '-d', queryFile]
}

export async function dnsperf(place: Workplace, load: Load): Promise<Report> {
  const stdout = await place.run(load.cores, 'dnsperf', dnsperfArguments(load))
  const number = (label: string) => {
    const line = stdout.split('\n').find((each) => each.trimStart().startsWith(label))
    if (line === undefined)
      throw new Error(`Cannot read dnsperf's report: no line "${label}"; its output was:\n${stdout}`)
    return Number.parseFloat(line.slice(line.indexOf(':') + 1))
  }
  const completed = number('Queries completed:')
  const rcodes: Record<string, number> = {}
  const codes = stdout.split('\n').find((line) => line.trimStart().startsWith('Response codes:')) ?? ''
  for (const [, name, count] of codes.matchAll(/([A-Z]+) (\d+) \(/g)) rcodes[name] = Number(count) / completed
  return { completed, lost: number('Queries lost:'), seconds: number('Run time (s):'), rcodes }
}
