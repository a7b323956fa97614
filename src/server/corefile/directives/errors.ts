// `errors { consolidate DURATION REGEXP [LEVEL] [show_first]; stacktrace }`: log failures.

import type { ErrorRule } from '../../config.ts'
import { known, readArguments, readDuration, readOptions } from '../arguments.ts'
import { reject } from '../problem.ts'
import { readGoRegExp } from '../read-go-regexp.ts'
import type { Statement } from '../syntax.ts'
import type { Directive } from './directive.ts'

const USAGE = 'consolidate DURATION REGEXP [warning|error|info|debug] [show_first]'
const LEVELS = { error: 'error', warning: 'warning', info: 'info', debug: 'debug' } as const
const SHOW_FIRST = 'show_first'

export const errors: Directive = (statement, { notice }) => {
  const [target] = readArguments(statement, 'errors [stdout]', 0, 1)
  if (target !== undefined && target.text !== 'stdout') reject(target, `"${target.text}" is not a log; expected stdout`)
  const errorRules: ErrorRule[] = []
  readOptions(statement, {
    consolidate: (option) => errorRules.push(readRule(option)),
    stacktrace: (option) => {
      readArguments(option, 'stacktrace', 0)
      notice(option.name, '"stacktrace" has no effect')
    },
  })
  return { errors: true, errorRules }
}

function readRule(option: Statement): ErrorRule {
  const [duration, pattern, ...more] = readArguments(option, USAGE, 2, 4)
  const last = more.at(-1)
  const showFirst = last?.text === SHOW_FIRST
  const [level, surplus] = showFirst ? more.slice(0, -1) : more
  if (surplus !== undefined) reject(surplus, `"${surplus.text}" comes after the level; expected ${SHOW_FIRST}`)
  if (level !== undefined && !Object.hasOwn(LEVELS, level.text))
    reject(level, `"${level.text}" is not a level; ${known(level.text, LEVELS)}`)
  return {
    durationMs: readDuration(duration, 1),
    source: pattern.text,
    pattern: readGoRegExp(pattern),
    level: level === undefined ? 'error' : LEVELS[level.text as keyof typeof LEVELS],
    showFirst,
  }
}
