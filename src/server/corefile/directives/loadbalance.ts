// `loadbalance [round_robin|off]`: rotate A and AAAA sets. On by default here; `off` is our addition.

import { readArguments, readOptions } from '../arguments.ts'
import { reject } from '../problem.ts'
import type { Directive } from './directive.ts'

export const loadbalance: Directive = (statement) => {
  const policy = statement.args[0]
  if (policy?.text === 'weighted') reject(policy, 'policy "weighted" is not supported; expected round_robin or off')
  readArguments(statement, 'loadbalance [round_robin|off]', 0, 1)
  if (policy !== undefined && policy.text !== 'round_robin' && policy.text !== 'off') {
    reject(policy, `unknown policy "${policy.text}"; expected round_robin or off`)
  }
  readOptions(statement, {
    prefer: ({ name }) => reject(name, '"prefer" is not supported; expected plain loadbalance'),
  })
  return { loadbalance: policy?.text !== 'off' }
}
