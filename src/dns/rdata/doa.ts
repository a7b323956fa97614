// DOA: a digital object (draft-durand-doa-over-dns). Data may be empty, written as -.

import type { RdataType } from './field.ts'
import { base64OrDash } from './fields/encoded.ts'
import { u8, u32 } from './fields/number.ts'
import { characterString } from './fields/string.ts'

export const doa: RdataType = {
  fields: [
    u32('an enterprise number'),
    u32('a type'),
    u8('a location'),
    characterString('a media type'),
    base64OrDash('data'),
  ],
}
