// `nsid [DATA...]`: the name server identifier (RFC 5001); the host name unless given.

import { LONGEST_NSID } from '../../views.ts'
import { refuseBlock } from '../arguments.ts'
import { reject } from '../problem.ts'
import type { Directive } from './directive.ts'

export const nsid: Directive = (statement, { hostname }) => {
  refuseBlock(statement)
  const data = statement.args.map(({ text }) => text).join(' ')
  if (Buffer.byteLength(data) > LONGEST_NSID)
    reject(statement.args[0], `an identifier of ${Buffer.byteLength(data)} bytes; expected at most ${LONGEST_NSID}`)
  return { nsid: data === '' ? hostname : data }
}
