// Whether the memory that is left is enough: that of the host, or of the control group we are in, whichever is less.

import { dirname, join } from 'node:path'
import { type Finding, ok, problem, warning } from '../../finding.ts'
import { countOf, type HostMachine, STACK_TAKES, TAKES } from './host-machine.ts'
import { hostText } from './host-text.ts'

/** Names of the files, by version of control groups. */
const GROUP_FILES = [
  { base: 'sys/fs/cgroup', limit: 'memory.max', used: 'memory.current', cache: /^inactive_file (\d+)$/mu },
  {
    base: 'sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    used: 'memory.usage_in_bytes',
    cache: /^total_inactive_file (\d+)$/mu,
  },
] as const

const MIB = 1 << 20

/** `running`: names of machines that have their memory already. */
export function checkMemory(machines: readonly HostMachine[], running: ReadonlySet<string>, root = '/'): Finding {
  const starting = machines.filter(({ name }) => !running.has(name))
  const availableMib = Math.floor(availableBytes(root) / MIB)
  const has = `${availableMib} MiB available`
  if (starting.length === 0) return ok('memory', has)
  const neededMib = starting.reduce((sum, { kind }) => sum + TAKES[kind].memoryMib, STACK_TAKES.memoryMib)
  const message = `${has}; about ${neededMib} MiB needed for ${countOf(starting)}`
  const fix = 'end other programs, or take fewer machines'
  // The estimate is on the large side; with half of it nothing works.
  if (availableMib < neededMib / 2) return problem('memory', message, fix)
  return availableMib < neededMib ? warning('memory', message, fix) : ok('memory', message)
}

function availableBytes(root: string): number {
  const [, kib] = /^MemAvailable:\s+(\d+) kB$/mu.exec(hostText(root, 'proc/meminfo')) ?? []
  const host = kib === undefined ? Number.POSITIVE_INFINITY : Number(kib) * 1024
  return Math.min(host, ...groupsOf(root).map(availableInGroup))
}

interface Group {
  readonly path: string
  readonly files: (typeof GROUP_FILES)[number]
}

/** Our groups and all above them: each of them may have a limit. */
function groupsOf(root: string): readonly Group[] {
  const lines = hostText(root, 'proc/self/cgroup').split('\n')
  return lines.flatMap((line) => {
    const [, controllers, group] = /^\d+:([^:]*):(\/.*)$/u.exec(line) ?? []
    const files =
      controllers === '' ? GROUP_FILES[0] : controllers?.split(',').includes('memory') ? GROUP_FILES[1] : undefined
    if (files === undefined || group === undefined) return []
    return upwards(group).map((each) => ({ path: join(root, files.base, each), files }))
  })
}

function upwards(path: string): readonly string[] {
  return path === '/' ? ['/'] : [path, ...upwards(dirname(path))]
}

function availableInGroup({ path, files }: Group): number {
  const limit = Number.parseInt(hostText(path, files.limit), 10)
  const used = Number.parseInt(hostText(path, files.used), 10)
  // Not there, or `max`.
  if (Number.isNaN(limit) || Number.isNaN(used)) return Number.POSITIVE_INFINITY
  const [, cache = '0'] = files.cache.exec(hostText(path, 'memory.stat')) ?? []
  return Math.max(0, limit - (used - Number(cache)))
}
