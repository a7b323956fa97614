// URI: a target URI with priority and weight (RFC 7553). The target stands in quotes.

import type { RdataType } from './field.ts'
import { u16 } from './fields/number.ts'
import { textToEnd } from './fields/string.ts'

export const uri: RdataType = {
  fields: [u16('a priority'), u16('a weight'), textToEnd('a target', { mustQuote: true })],
}
