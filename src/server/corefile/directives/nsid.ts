// `nsid [DATA...]`: the name server identifier (RFC 5001); the host name unless given.

import { refuseBlock } from '../arguments.ts'
import type { Directive } from './directive.ts'

export const nsid: Directive = (statement, { hostname }) => {
  refuseBlock(statement)
  const data = statement.args.map(({ text }) => text).join(' ')
  return { nsid: data === '' ? hostname : data }
}
