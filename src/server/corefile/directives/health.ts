// `health [ADDRESS] { lameduck DURATION }`: HTTP /health; after SIGTERM the server answers on for DURATION.

import { readArguments, readDuration, readHttpAddress, readOptions } from '../arguments.ts'
import type { Directive } from './directive.ts'

export const health: Directive = (statement) => {
  const [address] = readArguments(statement, 'health [ADDRESS:PORT]', 0, 1)
  let lameduckMs = 0
  readOptions(statement, {
    lameduck: (option) => {
      lameduckMs = readDuration(readArguments(option, 'lameduck DURATION', 1)[0])
    },
  })
  return { health: address === undefined ? { host: '', port: 8080 } : readHttpAddress(address), lameduckMs }
}
