// Names and targets that DNS can have. Kubernetes checks the hosts of an ingress, but annotations and templates may say
// anything: what is no name is reported and left out. Names in other scripts are put into their ASCII form (IDNA).

import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { encodeNameText, MAX_NAME_LENGTH, nameProblem } from '../../dns/name.ts'
import { type TargetSet, targetSet } from './hostname-endpoints.ts'
import { MOST_LISTED, MOST_NAMES, MOST_TARGETS, tooMuch } from './object-limits.ts'
import type { ObjectProblems } from './object-problems.ts'

/** Names of records such as `_sip._tcp` have underscores; a wildcard stands in front. */
const HOSTNAME = /^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$/u
const ASCII = /^[\u0000-\u007f]*$/u
const NO_ORIGIN = new Uint8Array(0)

/** The names that can be used, each once whatever its letter case; not more than an object may have. */
export function usableHostnames(names: readonly string[], problems: ObjectProblems): string[] {
  const usable = new Map<string, string>()
  for (const [i, written] of names.entries()) {
    if (usable.size === MOST_NAMES || i === MOST_LISTED) {
      problems.add(tooMuch(problems.subject, `${MOST_NAMES} names`))
      break
    }
    const name = checkedName('host name', written, problems)
    if (name !== undefined && !usable.has(name.toLowerCase())) usable.set(name.toLowerCase(), name)
  }
  return [...usable.values()]
}

/** The targets that can be used, not more than a name may have. */
export function usableTargets(targets: readonly string[], problems: ObjectProblems): TargetSet {
  const usable: string[] = []
  for (const [i, target] of targets.entries()) {
    if (usable.length === MOST_TARGETS || i === MOST_LISTED) {
      problems.add(tooMuch(problems.subject, `${MOST_TARGETS} targets of a name`))
      break
    }
    const checked = checkedTarget(target, problems)
    if (checked !== undefined) usable.push(checked)
  }
  return targetSet(usable)
}

function checkedTarget(target: string, problems: ObjectProblems): string | undefined {
  if (isIP(target) === 0) return checkedName('target', target, problems)
  if (!target.includes('%')) return target
  problems.unusable('target', target, 'it is an address within one network link', 'it is left out')
  return undefined
}

function checkedName(what: string, written: string, problems: ObjectProblems): string | undefined {
  const name = toAscii(written.replace(/\.$/u, ''))
  const fault = nameFault(name)
  if (fault === undefined) return name
  problems.unusable(what, written, fault, 'it is left out')
  return undefined
}

/** Less strict than a host name: reverse names have slashes (RFC 2317). */
export function aliasTargetFault(target: string): string | undefined {
  const name = toAscii(target.replace(/\.$/u, ''))
  return /^[!-~]+$/u.test(name) ? lengthFault(name) : 'expected a name without spaces'
}

function nameFault(name: string): string | undefined {
  const fault = lengthFault(name)
  if (fault !== undefined || HOSTNAME.test(name)) return fault
  return 'expected letters, digits, hyphens and underscores between the dots'
}

function lengthFault(name: string): string | undefined {
  const bytes = new TextEncoder().encode(`${name}.`)
  const wire = new Uint8Array(Math.max(MAX_NAME_LENGTH, bytes.length) + 2)
  const length = encodeNameText(bytes, 0, bytes.length, NO_ORIGIN, wire, 0)
  return length < 0 ? `expected ${nameProblem(length)}` : undefined
}

/** What IDNA refuses stays as it is, for the check to find. */
function toAscii(name: string): string {
  return ASCII.test(name) ? name : domainToASCII(name) || name
}
