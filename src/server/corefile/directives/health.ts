// `health [ADDRESS] { lameduck DURATION; status off|ADDRESS }`: HTTP /health, with /status next to it or elsewhere; after
// SIGTERM the server continues to answer for DURATION.

import type { HttpAddress } from '../../config.ts'
import { readArguments, readDuration, readHttpAddress, readOptions } from '../arguments.ts'
import type { Directive } from './directive.ts'

export const health: Directive = (statement) => {
  const [address] = readArguments(statement, 'health [ADDRESS:PORT]', 0, 1)
  let lameduckMs = 0
  let status: HttpAddress | 'off' | undefined
  readOptions(statement, {
    lameduck: (option) => {
      lameduckMs = readDuration(readArguments(option, 'lameduck DURATION', 1)[0])
    },
    status: (option) => {
      const [where] = readArguments(option, 'status off|ADDRESS:PORT', 1)
      status = where.text === 'off' ? 'off' : readHttpAddress(where)
    },
  })
  return {
    health: address === undefined ? { host: '', port: 8080 } : readHttpAddress(address),
    lameduckMs,
    ...(status === undefined ? {} : { status }),
  }
}
