// `ready [ADDRESS] { monitor until-ready|continuously }`: HTTP /ready.

import { readArguments, readHttpAddress, readOptions } from '../arguments.ts'
import { reject } from '../problem.ts'
import type { Directive } from './directive.ts'

export const ready: Directive = (statement, { notice }) => {
  const [address] = readArguments(statement, 'ready [ADDRESS:PORT]', 0, 1)
  readOptions(statement, {
    monitor: (option) => {
      const [mode] = readArguments(option, 'monitor until-ready|continuously', 1)
      if (mode.text !== 'until-ready' && mode.text !== 'continuously') {
        reject(mode, `unknown mode "${mode.text}"; expected until-ready or continuously`)
      }
      notice(option.name, '"monitor" has no effect: /ready tells the state of the moment')
    },
  })
  return { ready: address === undefined ? { host: '', port: 8181 } : readHttpAddress(address) }
}
