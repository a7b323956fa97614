// `reload [INTERVAL] [JITTER]`: re-read the Corefile when its content changes.

import { readArguments, readDuration, refuseBlock } from '../arguments.ts'
import type { Directive } from './directive.ts'

/** CoreDNS's limit. */
const MIN_INTERVAL_MS = 2000

export const reload: Directive = (statement, { notice }) => {
  const [interval, jitter] = readArguments(statement, 'reload [INTERVAL] [JITTER]', 0, 2)
  refuseBlock(statement)
  if (jitter !== undefined) {
    readDuration(jitter)
    notice(jitter, 'the jitter of reload has no effect: reading one small file needs no spreading')
  }
  return { reloadMs: interval === undefined ? 30_000 : readDuration(interval, MIN_INTERVAL_MS) }
}
