// Targets compared: what they are, whether two lists say the same, and which of two lists comes first. Addresses count by
// value, so that 2001:DB8:0::1 and 2001:db8::1 are one.

import { isIP } from 'node:net'
import { formatIpv6, readIpv6 } from '../../dns/rdata/fields/address.ts'

/** The type of record that a target of this look is for. */
export function targetType(target: string): 'A' | 'AAAA' | 'CNAME' {
  const family = isIP(target)
  if (family === 0) return 'CNAME'
  return family === 4 ? 'A' : 'AAAA'
}

/** Order and repetitions make no difference, nor does letter case, except in texts. */
export function sameTargets(recordType: string, a: readonly string[], b: readonly string[]): boolean {
  if (a.length === b.length && a.every((target, index) => target === b[index])) return true
  const normal = recordType === 'TXT' ? (target: string) => target : normalTarget
  const left = new Set(a.map(normal))
  const right = new Set(b.map(normal))
  return left.size === right.size && left.isSubsetOf(right)
}

/**
 * Which list comes first when two claim a name, after ExternalDNS: the shorter one, then that with the smaller first
 * difference, where addresses come before names. Negative: `a`.
 */
export function compareTargets(a: readonly string[], b: readonly string[]): number {
  if (a.length !== b.length) return a.length - b.length
  const left = a.map(textOf).toSorted(compareText)
  const right = b.map(textOf).toSorted(compareText)
  const at = left.findIndex((target, index) => target !== right[index])
  return at < 0 ? 0 : compareTarget(left[at], right[at])
}

function compareTarget(a: string, b: string): number {
  const [left, right] = [isIP(a), isIP(b)]
  if (left !== right && (left === 0 || right === 0)) return left === 0 ? 1 : -1
  if (left === 0) return compareText(a, b)
  return left - right || Buffer.compare(addressBytes(a), addressBytes(b))
}

/** Addresses are put in the order of their texts as well: it decides who wins, and has to be ExternalDNS's. */
function textOf(target: string): string {
  return isIP(target) === 0 ? target : normalTarget(target)
}

function normalTarget(target: string): string {
  return isIP(target) === 6 && !target.includes('%') ? formatIpv6(addressBytes(target), 0) : target.toLowerCase()
}

function addressBytes(address: string): Uint8Array {
  if (isIP(address) === 4) return Uint8Array.from(address.split('.'), Number)
  const [text] = address.split('%')
  const bytes = Buffer.from(text)
  const out = new Uint8Array(16)
  readIpv6(bytes, 0, bytes.length, out, 0)
  return out
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

const TARGETS_SHOWN = 5
const LONGEST_SHOWN = 100

/** For messages: an object may have thousands of targets, and a text of kilobytes. */
export function showTargets(targets: readonly string[]): string {
  const shown = targets
    .slice(0, TARGETS_SHOWN)
    .map((target) => (target.length > LONGEST_SHOWN ? `${target.slice(0, LONGEST_SHOWN)}…` : target))
  const more = targets.length - TARGETS_SHOWN
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(' ')
}
