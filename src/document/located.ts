// What a document is to those who look for faults in it: its value, and where each part of that stands. A text has
// lines and columns; a value that a program made has none, and messages name the path in it anyway.

import type { ErrorProblem } from '../lib/errors.ts'

export type Path = readonly PropertyKey[]

export interface Located {
  readonly value: unknown
  /** `14:7`, the place of what the path leads to, or of the nearest thing above it; empty where there is no text. */
  place(path: Path): string
  placeOfKey(path: Path, key: string): string
}

export interface Problem {
  /** `14:7`, or empty. */
  readonly place: string
  readonly message: string
  /** Of the value, where the problem is with one. */
  readonly path?: Path
}

export function withoutText(value: unknown): Located {
  return { value, place: () => '', placeOfKey: () => '' }
}

/** `sources[0].etcd` */
export function formatPath(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./u, '')
}

/** `names.yaml:14:7` */
export function formatPlace(file: string, place: string): string {
  return place === '' ? file : `${file}:${place}`
}

/**
 * The text of an error about the file, one line for each problem in the order of the file, and the same as fields. A
 * problem behind an anchor is reported once, however often the anchor is used.
 */
export function listProblems(
  file: string,
  problems: readonly Problem[],
): { readonly message: string; readonly problems: readonly ErrorProblem[] } {
  const first = new Map<string, ErrorProblem>()
  for (const { place, message } of problems.toSorted((a, b) => orderOf(a) - orderOf(b))) {
    const same = place === '' ? message : `${place} ${message.replaceAll(/\b\w+\[\d+\]\.?/gu, '')}`
    const line = `Cannot load ${formatPlace(file, place)}: ${message}`
    if (!first.has(same)) first.set(same, { message: line, place: { file, ...placeFields(place) } })
  }
  const listed = [...first.values()]
  return { message: listed.map((problem) => problem.message).join('\n'), problems: listed }
}

function placeFields(place: string): { readonly line?: number; readonly column?: number } {
  if (place === '') return {}
  const [line, column] = place.split(':').map(Number)
  return { line, column }
}

function orderOf({ place }: Problem): number {
  if (place === '') return 0
  const [line, column] = place.split(':').map(Number)
  return line * 1e6 + column
}
