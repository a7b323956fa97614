// `errors { consolidate DURATION REGEXP [LEVEL] [show_first]; stacktrace }`: log failures.

import { readArguments, readDuration, readOptions } from '../arguments.ts'
import { goRegExp } from '../go-regexp.ts'
import { reject } from '../problem.ts'
import type { Directive } from './directive.ts'

export const errors: Directive = (statement, { notice }) => {
  const [target] = readArguments(statement, 'errors [stdout]', 0, 1)
  if (target !== undefined && target.text !== 'stdout') reject(target, `"${target.text}" is no log; wanted: stdout`)
  readOptions(statement, {
    consolidate: (option) => {
      const usage = 'consolidate DURATION REGEXP [warning|error|info|debug] [show_first]'
      const [duration, pattern] = readArguments(option, usage, 2, 4)
      readDuration(duration)
      goRegExp(pattern)
      notice(option.name, '"consolidate" has no effect: errors are logged one by one')
    },
    stacktrace: (option) => {
      readArguments(option, 'stacktrace', 0)
      notice(option.name, '"stacktrace" has no effect')
    },
  })
  return { errors: true }
}
