// Regular expressions in Go's syntax (RE2). Matching takes linear time: patterns from Corefiles and ExternalDNS's flags
// are applied to names that tenants choose, and a backtracking engine would hang on some of them.

import { createRequire } from 'node:module'
import { messageOf } from './errors.ts'

export interface GoRegExp {
  readonly captureGroups: number
  /** True if the pattern is found anywhere in the text. */
  readonly test: (text: string) => boolean
  /** The captures of the first match: by number from 0, the whole match, and by name. */
  readonly captures: (text: string) => Captures | undefined
}

export interface Captures {
  /** The empty string for a group that took no part in the match or does not exist. */
  readonly group: (nameOrNumber: string) => string
}

/** The pattern is not one of Go's. */
export class GoRegExpError extends Error {}

export function goRegExp(source: string): GoRegExp {
  const pattern = compile(source)
  const names = pattern.namedGroups()
  return {
    captureGroups: pattern.groupCount(),
    test: (text) => pattern.test(text),
    captures: (text) => {
      const match = pattern.matcher(text)
      if (!match.find()) return undefined
      return {
        group: (nameOrNumber) => {
          const index = /^\d+$/u.test(nameOrNumber) ? Number(nameOrNumber) : (names[nameOrNumber] ?? -1)
          return index < 0 || index > pattern.groupCount() ? '' : (match.group(index) ?? '')
        },
      }
    },
  }
}

function compile(source: string) {
  try {
    return engine().compile(source)
  } catch (thrown) {
    throw new GoRegExpError(messageOf(thrown).replace(/^error parsing regexp: /u, ''), { cause: thrown })
  }
}

/** Loaded when the first pattern is compiled: it takes 12 MB in every thread, and most servers have no pattern. */
function engine() {
  return (createRequire(import.meta.url)('re2js') as typeof import('re2js')).RE2JS
}
