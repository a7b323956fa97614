// `bufsize [BYTES]`: the largest UDP answer (RFC 6891).

import { readArguments, readInteger, refuseBlock } from '../arguments.ts'
import type { Directive } from './directive.ts'

/** What crosses every path without fragments; the value agreed on at DNS flag day 2020. */
export const DEFAULT_UDP_BYTES = 1232

export const bufsize: Directive = (statement) => {
  const [bytes] = readArguments(statement, 'bufsize [BYTES]', 0, 1)
  refuseBlock(statement)
  return { udpBytes: bytes === undefined ? DEFAULT_UDP_BYTES : readInteger(bytes, 512, 4096) }
}
