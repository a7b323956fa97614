// Whether the directory that a stack lives in will do: ours to write, nobody else's to change, passable for the users that
// services run as, on a local file system that keeps what is written and runs programs, with enough room.

import { accessSync, constants, readdirSync, realpathSync, type Stats, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Finding, ok, problem, warning } from '../../finding.ts'
import { countOf, type HostMachine, STACK_TAKES, TAKES } from './host-machine.ts'
import { mountOf } from './mounts.ts'

const ELSEWHERE = 'choose another place with --state DIR'
const NETWORK = /^(?:nfs|cifs|smb|9p|afs|ceph|glusterfs|ncpfs|fuse\.(?:sshfs|s3fs|glusterfs|ceph))/u
const VOLATILE = /^(?:tmpfs|ramfs)$/u
/** PostgreSQL takes paths of up to 1023 bytes, which begin with this one. */
const LONGEST_PATH = 800
const MIB = 1 << 20

export function checkStateDirectory(directory: string, isRoot: boolean, root = '/'): readonly Finding[] {
  const existing = nearestExisting(directory)
  const findings = [
    ...checkAccess(existing, isRoot, dirname(dirname(directory))),
    ...checkMount(existing, root),
    ...checkLength(directory),
  ]
  return findings.length === 0 ? [ok('state', directory)] : findings
}

/** Itself, or the closest directory above it that is there; without symbolic links. */
export function nearestExisting(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    return nearestExisting(dirname(directory))
  }
}

/** `own`: where all stacks are kept. There, `up` opens what is too closed by itself. */
function checkAccess(existing: string, isRoot: boolean, own: string): readonly Finding[] {
  const path = lineage(existing)
  const [{ stats }] = path
  if (!stats.isDirectory()) return [problem('state', `"${existing}" is no directory`, ELSEWHERE)]
  if (!isWritable(existing)) return [problem('state', `"${existing}" cannot be written`, ELSEWHERE)]
  // With the sticky bit, as /tmp has it, others cannot rename or remove what is ours.
  const open = path.find((each) => (each.stats.mode & 0o1002) === 0o002)
  if (open !== undefined) return [problem('state', `anybody can change "${open.path}"`, `chmod o-w ${open.path}`)]
  const others = path.filter((each) => each.path !== own && !each.path.startsWith(`${own}/`))
  const closed = isRoot ? others.find((each) => (each.stats.mode & 0o001) === 0) : undefined
  if (closed === undefined) return []
  return [
    problem('state', `users of services cannot pass "${closed.path}"`, `chmod o+x ${closed.path}, or ${ELSEWHERE}`),
  ]
}

function lineage(path: string): readonly [Ancestor, ...Ancestor[]] {
  const own = { path, stats: statSync(path) }
  return path === '/' ? [own] : [own, ...lineage(dirname(path))]
}

interface Ancestor {
  readonly path: string
  readonly stats: Stats
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

function checkMount(existing: string, root: string): readonly Finding[] {
  const mount = mountOf(existing, root)
  if (mount === undefined) return []
  const { point, type, options } = mount
  if (options.includes('noexec')) return [problem('state', `no program can be run from "${point}" (noexec)`, ELSEWHERE)]
  if (NETWORK.test(type))
    return [
      warning('state', `"${point}" is on the network (${type}); etcd and PostgreSQL want a local disk`, ELSEWHERE),
    ]
  if (VOLATILE.test(type))
    return [warning('state', `"${point}" is kept in memory (${type}); a restart of the host loses it`, ELSEWHERE)]
  return []
}

function checkLength(directory: string): readonly Finding[] {
  const length = Buffer.byteLength(directory)
  if (length <= LONGEST_PATH) return []
  return [problem('state', `its path has ${length} bytes; expected at most ${LONGEST_PATH}`, ELSEWHERE)]
}

/** Room for the machines that are not there yet. */
export function checkDisk(directory: string, machines: readonly HostMachine[]): Finding {
  const existing = nearestExisting(directory)
  const { bavail, bsize } = statfsSync(existing)
  const freeMib = Math.floor((bavail * bsize) / MIB)
  const made = madeMachines(directory)
  const fresh = machines.filter(({ name }) => !made.has(name))
  const has = `${freeMib} MiB free at ${existing}`
  if (fresh.length === 0) return ok('disk', has)
  const neededMib = fresh.reduce((sum, { kind }) => sum + TAKES[kind].diskMib, STACK_TAKES.diskMib)
  const message = `${has}; about ${neededMib} MiB needed for ${countOf(fresh)}`
  // The estimate leaves room to grow; with half of it they do not even start.
  if (freeMib < neededMib / 2) return problem('disk', message, ELSEWHERE)
  return freeMib < neededMib ? warning('disk', message, ELSEWHERE) : ok('disk', message)
}

function madeMachines(directory: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(join(directory, 'machines')))
  } catch {
    return new Set()
  }
}
