// What zod found wrong, in our words: `<what is>; <what is wanted>` with the place in the file. The `error` texts of the
// schema are the part after "wanted"; for unknown keys and words they are the list of known ones.

import { z } from 'zod'
import { oneOf, suggestion } from '../lib/closest.ts'
import { formatPath, type Located, type Path, type Problem } from './located.ts'
import { quote, SECRET_PLACES } from './values.ts'

type Issue = z.core.$ZodIssue

/** The texts where the schema gives none. */
export const wantedByDefault: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'unrecognized_keys' && issue.inst instanceof z.ZodObject)
    return Object.keys(issue.inst.shape).join(' ')
  if (issue.code === 'invalid_type') return issue.expected === 'object' ? 'a map' : `a ${issue.expected}`
  return undefined
}

export function explain(issues: readonly Issue[], document: Located): Problem[] {
  return issues.flatMap((issue) => explainOne(issue, issue.path, document))
}

function explainOne(issue: Issue, path: Path, document: Located): Problem[] {
  const at = (message: string): Problem[] => [{ place: document.place(path), message }]
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = issue.message.split(' ')
      // A password in braces, without quotes, is a map that has it as its key.
      const shown = (key: string) => (issue.message === SECRET_PLACES ? '' : ` ${quote(key)}`)
      return issue.keys.map((key) => ({
        place: document.placeOfKey(path, key),
        message: `unknown key${shown(key)}${path.length === 0 ? '' : ` in ${formatPath(path)}`}; ${suggestion(key, known)}`,
      }))
    }
    case 'invalid_union':
      return 'options' in issue && issue.options !== undefined
        ? at(unknownWord(path, valueAt(document.value, path), issue.options))
        : explainUnion(issue, path, document)
    case 'invalid_value':
      return at(unknownWord(path, valueAt(document.value, path), issue.values))
    case 'custom':
      return at(path.length === 0 ? issue.message : `${formatPath(path)}: ${issue.message}`)
    case 'too_small':
    case 'too_big': {
      const value = valueAt(document.value, path)
      if (typeof value === 'number') return at(`${formatPath(path)} is ${value}; expected ${issue.message}`)
      return at(notWanted(path, value, issue.message))
    }
    default:
      return at(notWanted(path, valueAt(document.value, path), issue.message))
  }
}

/** Of several kinds a value may have, the faults in the one it has; if it has none of them, what was wanted. */
function explainUnion(issue: z.core.$ZodIssueInvalidUnion, path: Path, document: Located): Problem[] {
  const meant = issue.errors.find((found) => !found.some((each) => each.path.length === 0 && isOtherKind(each)))
  if (meant !== undefined) return meant.flatMap((each) => explainOne(each, [...path, ...each.path], document))
  return [{ place: document.place(path), message: notWanted(path, valueAt(document.value, path), issue.message) }]
}

function isOtherKind({ code }: Issue): boolean {
  return code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_union'
}

function notWanted(path: Path, value: unknown, wanted: string): string {
  if (value === undefined && path.length > 0) return missing(path, wanted)
  return `${path.length === 0 ? 'the file' : formatPath(path)} is ${kindOf(value)}; expected ${wanted}`
}

function unknownWord(path: Path, value: unknown, known: readonly unknown[]): string {
  const words = known.map(String)
  if (value === undefined) return missing(path, oneOf(words))
  if (typeof value !== 'string') return notWanted(path, value, oneOf(words))
  return `${formatPath(path)}: unknown word ${quote(value)}; ${suggestion(value, words)}`
}

function missing(path: Path, wanted: string): string {
  const above = path.slice(0, -1)
  return `${above.length === 0 ? 'the file' : formatPath(above)} has no "${String(path.at(-1))}"; expected ${wanted}`
}

/** Scalars are not shown: they may be secrets. */
function kindOf(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'empty'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'string' ? 'text' : 'a number'
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (above, step) => (typeof above === 'object' && above !== null ? Reflect.get(above, step) : undefined),
    value,
  )
}
