// Which names are ours to look after, after ExternalDNS's --domain-filter, --exclude-domains and their regexps. A domain
// stands for itself and all below it, one with a dot in front only for what is below. Regexps, where there
// are any, count instead of domains.

import { HoldfastError } from '../../lib/errors.ts'
import { type GoRegExp, GoRegExpError, goRegExp } from '../../lib/go-regexp.ts'
import { readableName } from './normal-name.ts'

export interface DomainFilterOptions {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** As Go reads them. Empty: none. */
  readonly regexInclude?: string
  readonly regexExclude?: string
}

export type DomainFilter = (name: string) => boolean

export function domainFilter(options: DomainFilterOptions): DomainFilter {
  const { regexInclude = '', regexExclude = '' } = options
  if (regexInclude !== '' || regexExclude !== '') return regexFilter(regexInclude, regexExclude)
  const include = normalDomains(options.include)
  const exclude = normalDomains(options.exclude)
  return (name) => {
    const readable = readableName(name)
    return (include.length === 0 || isWithin(readable, include)) && !isWithin(readable, exclude)
  }
}

/** Spelled as names are compared with them; what is empty is left out. */
export function normalDomains(domains: readonly string[]): string[] {
  return domains.map(readableName).filter((domain) => domain !== '')
}

function isWithin(name: string, domains: readonly string[]): boolean {
  return domains.some((domain) => name === domain || name.endsWith(domain.startsWith('.') ? domain : `.${domain}`))
}

function regexFilter(include: string, exclude: string): DomainFilter {
  const [included, excluded] = [include, exclude].map((source) => (source === '' ? undefined : compile(source)))
  return (name) => {
    const readable = readableName(name)
    return excluded?.test(readable) !== true && included?.test(readable) !== false
  }
}

function compile(source: string): GoRegExp {
  try {
    return goRegExp(source)
  } catch (thrown) {
    if (!(thrown instanceof GoRegExpError)) throw thrown
    const reason = `Cannot use "${source}" as a regular expression: ${thrown.message}; expected one in Go syntax`
    throw new HoldfastError('Usage', reason, { cause: thrown })
  }
}
