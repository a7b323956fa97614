// `prometheus [ADDRESS] { runtime_metrics }`: HTTP /metrics.

import { readArguments, readHttpAddress, readOptions } from '../arguments.ts'
import { reject } from '../problem.ts'
import type { Directive } from './directive.ts'

export const prometheus: Directive = (statement, { notice }) => {
  const [address] = readArguments(statement, 'prometheus [ADDRESS:PORT]', 0, 1)
  readOptions(statement, {
    runtime_metrics: (option) => {
      readArguments(option, 'runtime_metrics', 0)
      notice(option.name, '"runtime_metrics" has no effect: there is no Go runtime here')
    },
    tls: ({ name }) => reject(name, 'metrics over TLS are not supported yet; expected plain HTTP'),
  })
  return { prometheus: address === undefined ? { host: 'localhost', port: 9153 } : readHttpAddress(address) }
}
