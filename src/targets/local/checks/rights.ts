// What we may do here: as root, give files to other users and run services as them; else run everything as ourselves.

import { userInfo } from 'node:os'
import { type Finding, ok, problem, warning } from '../../finding.ts'
import { hostText } from './host-text.ts'

/** Bits of capability sets, as capabilities(7) numbers them. */
const NEEDED_BY_ROOT = { CAP_CHOWN: 0, CAP_DAC_OVERRIDE: 1, CAP_FOWNER: 3, CAP_KILL: 5, CAP_SETGID: 6, CAP_SETUID: 7 }

const FILES_PER_MACHINE = 8
const FILES_AT_LEAST = 256
/** PostgreSQL opens up to 1,000 in each of its processes, etcd one for each client. */
const FILES_COMFORTABLE = 4096

export function checkRights(isRoot: boolean, root = '/'): Finding {
  if (!isRoot) return ok('rights', `not root: every service runs as ${whoAmI()}`)
  const missing = missingCapabilities(root)
  if (missing.length === 0) return ok('rights', 'root: every service runs as its own user')
  return problem(
    'rights',
    `root without ${missing.join(', ')}: services cannot be run as their own users`,
    'give the container these capabilities, or run as another user',
  )
}

function whoAmI(): string {
  try {
    return `"${userInfo().username}"`
  } catch {
    return `user ${process.getuid?.()}`
  }
}

function missingCapabilities(root: string): readonly string[] {
  const status = hostText(root, 'proc/self/status')
  const [, mask] = /^CapEff:\s*([0-9a-f]+)$/mu.exec(status) ?? []
  if (mask === undefined) return []
  const has = BigInt(`0x${mask}`)
  return Object.entries(NEEDED_BY_ROOT).flatMap(([name, bit]) => (((has >> BigInt(bit)) & 1n) === 1n ? [] : [name]))
}

/** The hard limit counts: Node raises the other one to it, for itself and for what it starts. */
export function checkOpenFiles(machineCount: number, root = '/'): Finding {
  const limits = hostText(root, 'proc/self/limits')
  const [, hard = 'unlimited'] = /^Max open files\s+\S+\s+(\S+)/mu.exec(limits) ?? []
  const limit = hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard)
  const needed = FILES_AT_LEAST + FILES_PER_MACHINE * machineCount
  const fix = `as root: ulimit -n ${Math.max(needed, FILES_COMFORTABLE)}, in the shell that starts the stack`
  if (limit < needed) return problem('open files', `at most ${hard} for a process; expected ${needed}`, fix)
  if (limit < FILES_COMFORTABLE)
    return warning('open files', `at most ${hard} for a process; databases under load want more`, fix)
  return ok('open files', hard === 'unlimited' ? 'no limit' : `up to ${hard} for a process`)
}
