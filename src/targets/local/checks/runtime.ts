// What our own program needs to run at all: system, Node, fast UDP, a clock.

import { release } from 'node:os'
import { loadLibc } from '../../../lib/libc.ts'
import { type Finding, ok, problem, warning } from '../../finding.ts'
import { hostText } from './host-text.ts'

const NODE_MAJOR = 24
const ARCHITECTURES: readonly string[] = ['x64', 'arm64']
/** Certificates that are issued by a clock further back would be of no use to anybody. */
const EARLIEST = Date.parse('2025-01-01T00:00:00Z')

export function checkSystem(platform: string = process.platform, arch: string = process.arch, root = '/'): Finding {
  const is = `${platform} on ${arch}`
  if (platform !== 'linux')
    return problem('system', `${is}; expected Linux`, 'use a Linux machine, a virtual one for instance')
  if (!ARCHITECTURES.includes(arch)) return problem('system', `${is}; expected x64 or arm64`)
  return ok('system', [distribution(root), `Linux ${release()}`, arch].filter((part) => part !== '').join(', '))
}

function distribution(root: string): string {
  const [, name] = /^PRETTY_NAME="?([^"\n]*)"?$/mu.exec(hostText(root, 'etc/os-release')) ?? []
  return name ?? ''
}

export function checkNode(version: string = process.versions.node): Finding {
  if (Number.parseInt(version, 10) >= NODE_MAJOR) return ok('node', `Node ${version}`)
  return problem('node', `Node ${version}; expected ${NODE_MAJOR} or newer`, 'npm ci, without --omit=optional')
}

/** Batches of datagrams need libc by way of koffi. */
export function checkUdp(load: typeof loadLibc = loadLibc): Finding {
  let reason = ''
  const libc = load((told) => {
    reason = told
  })
  if (libc !== undefined) return ok('udp', 'name servers take datagrams in batches')
  return warning('udp', `${reason}; name servers will be slower`, 'npm ci, without --omit=optional')
}

export function checkClock(nowMs: number = Date.now()): Finding {
  const now = new Date(nowMs).toISOString()
  if (nowMs >= EARLIEST) return ok('clock', now)
  return problem(
    'clock',
    `it is ${now}, says the clock; certificates need the right time`,
    'set the clock, for instance with chrony',
  )
}

/** Told only where it is on: policies are written for services in their usual places. */
export function checkSelinux(root = '/'): readonly Finding[] {
  if (hostText(root, 'sys/fs/selinux/enforce').trim() !== '1') return []
  return [warning('selinux', 'SELinux enforces; it may keep services from files below the state directory')]
}
