// The origin a file name stands for: CoreDNS's pattern, found anywhere in the name, and its template, in which
// ${1} or $1 is a group by number, ${name} or $name one by name, and $$ a dollar sign.

import { formatName, isSubdomain, lowerName, NameError, parseName, ROOT } from '../../dns/name.ts'

export interface OriginRule {
  readonly pattern: RegExp
  readonly template: string
  /** Origins must be one of these or below. */
  readonly zones: readonly string[]
}

/** Absolute and lower case; undefined for a file that is no zone, `invalid` for one with an impossible name. */
export type Origin = { readonly origin: string } | { readonly invalid: string } | undefined

export function originOf(fileName: string, { pattern, template, zones }: OriginRule): Origin {
  const match = pattern.exec(fileName)
  if (match === null) return undefined
  const text = expandTemplate(template, match)
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

export function expandTemplate(template: string, match: RegExpExecArray): string {
  return template.replace(/\$(?:\$|\{(\w+)\}|(\w+))/gu, (whole, braced?: string, bare?: string) => {
    const name = braced ?? bare
    if (name === undefined) return whole[0]
    return (/^\d+$/u.test(name) ? match[Number(name)] : match.groups?.[name]) ?? ''
  })
}
