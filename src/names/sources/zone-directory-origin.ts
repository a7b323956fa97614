// The origin of a zone file by its name: CoreDNS's pattern, found anywhere in the name, and its template, in which
// ${1} or $1 is a group by number, ${name} or $name one by name, and $$ a dollar sign.

import { type Captures, goRegExp } from '../../lib/go-regexp.ts'
import { formatName, isSubdomain, lowerName, NameError, parseName, ROOT } from '../../dns/name.ts'

export interface OriginRule {
  /** Ours, with numbered groups, or text: a user's, in Go syntax. Text can be passed between threads. */
  readonly pattern: RegExp | string
  readonly template: string
  /** Origins must be one of these or below. */
  readonly zones: readonly string[]
}

/** Absolute and lower case; undefined for a file that is no zone, `invalid` for one with an impossible name. */
export type Origin = { readonly origin: string } | { readonly invalid: string } | undefined

/** Compiles the pattern once, for all file names. */
export function originReader(rule: OriginRule): (fileName: string) => Origin {
  const match = typeof rule.pattern === 'string' ? goRegExp(rule.pattern).captures : capturesOf(rule.pattern)
  return (fileName) => {
    const captures = match(fileName)
    return captures && readOrigin(fileName, captures, rule)
  }
}

function readOrigin(fileName: string, captures: Captures, { template, zones }: OriginRule): Origin {
  const text = expandTemplate(template, captures)
  if (text === '') return undefined
  try {
    const name = lowerName(parseName(text, ROOT))
    return zones.some((zone) => isSubdomain(name, parseName(zone))) ? { origin: formatName(name) } : undefined
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    // Hidden files match wide patterns by accident.
    return fileName.startsWith('.') ? undefined : { invalid: text }
  }
}

function capturesOf(pattern: RegExp): (text: string) => Captures | undefined {
  return (text) => {
    const match = pattern.exec(text)
    return match === null ? undefined : { group: (name) => match[Number(name)] ?? '' }
  }
}

function expandTemplate(template: string, captures: Captures): string {
  return template.replace(/\$(?:\$|\{(\w+)\}|(\w+))/gu, (whole, braced?: string, bare?: string) => {
    const name = braced ?? bare
    return name === undefined ? whole[0] : captures.group(name)
  })
}
