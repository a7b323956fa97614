// Parameters that PostgreSQL would not take, found before anything is changed: where a server runs it says which names and
// values there are; the lower limits of Patroni hold without one.

import { closest } from '../../../lib/closest.ts'
import { HoldfastError } from '../../../lib/errors.ts'
import { PATRONI_OPTIONS } from './known-parameters.ts'
import { normalValue } from './parameter-value.ts'
import type { ServerSetting, ServerSettings } from './server-setting.ts'

/** `settings`: of a running server, if there is one. */
export function checkParameters(
  parameters: Readonly<Record<string, string>>,
  settings: ServerSettings | undefined,
): void {
  const problems = Object.entries(parameters).flatMap(([name, value]) => {
    const problem = problemOf(name, value, settings)
    return problem === undefined ? [] : [`Cannot use the parameter "${name}" of PostgreSQL: ${problem}`]
  })
  if (problems.length === 0) return
  throw new HoldfastError('ParameterInvalid', problems.join('\n'), {
    hint: 'fix "params" of "postgres" in the stack file',
  })
}

function problemOf(name: string, value: string, settings: ServerSettings | undefined): string | undefined {
  const key = name.toLowerCase()
  const minimum = PATRONI_OPTIONS.get(key)?.minimum
  if (minimum !== undefined && Number(value) < minimum)
    return `"${value}" is less than Patroni allows; expected at least ${minimum}`
  if (settings === undefined) return undefined
  const setting = settings.get(key)
  if (setting === undefined) return key.includes('.') ? undefined : unknown(key, settings)
  if (setting.context === 'internal') return `the server sets it itself (${setting.value}); expected none`
  return normalValue(setting, value) === undefined ? `it is "${value}"; expected ${expectation(setting)}` : undefined
}

function unknown(name: string, settings: ServerSettings): string {
  const near = closest(name, [...settings.keys()])
  return `the server has no such parameter${near === undefined ? '' : `; did you mean "${near}"?`}`
}

function expectation({ type, unit, minimum, maximum, choices }: ServerSetting): string {
  if (type === 'bool') return 'on or off'
  if (type === 'enum') return `one of ${choices.join(', ')}`
  const kind = type === 'integer' ? 'an integer' : 'a number'
  const range = minimum === undefined || maximum === undefined ? '' : ` from ${minimum} to ${maximum}`
  return `${kind}${range}${unit === undefined ? '' : ` in units of ${unit}, or with a unit of its own`}`
}
