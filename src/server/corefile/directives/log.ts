// `log [NAMES...] [FORMAT] { class success|denial|error|all... }`: log queries. A last argument with a brace in it
// is the format.

import type { LogConfig } from '../../config.ts'
import { readArguments, readOptions } from '../arguments.ts'
import type { Token } from '../lexer.ts'
import { reject } from '../problem.ts'
import { readName } from '../zones.ts'
import type { Directive } from './directive.ts'

type LogClass = LogConfig['classes'][number]
export const LOG_CLASSES: readonly LogClass[] = ['success', 'denial', 'error', 'all']

export const log: Directive = (statement) => {
  const last = statement.args.at(-1)
  const hasFormat = last?.text.includes('{') ?? false
  const names = (hasFormat ? statement.args.slice(0, -1) : statement.args).map(readName)
  const classes: LogClass[] = []
  readOptions(statement, {
    class: (option) => {
      classes.push(...readArguments(option, 'class success|denial|error|all...', 1, Infinity).map(readClass))
    },
  })
  const config: LogConfig = {
    names: names.length === 0 ? ['.'] : names,
    format: last !== undefined && hasFormat ? last.text : '{common}',
    classes: classes.length === 0 ? ['all'] : classes,
  }
  return { log: [config] }
}

function readClass(token: Token): LogClass {
  const found = LOG_CLASSES.find((each) => each === token.text)
  return found ?? reject(token, `unknown class "${token.text}"; expected ${LOG_CLASSES.join(', ')}`)
}
