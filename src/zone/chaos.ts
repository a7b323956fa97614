// Class CHAOS: version.bind, version.server, hostname.bind and id.server as TXT (RFC 4892).

import { RCODE, TYPE } from '../dns/types.ts'
import { hashName } from './hash.ts'
import { QUESTION_NAME } from './layout.ts'
import type { Query, View } from './query.ts'

const wire = (...labels: string[]): Uint8Array =>
  Uint8Array.from([...labels.flatMap((label) => [label.length, ...new TextEncoder().encode(label)]), 0])
const hashOf = (...labels: string[]): number => {
  const name = wire(...labels)
  return hashName(name, 0, name.length)
}
const VERSION_NAMES = [hashOf('version', 'bind'), hashOf('version', 'server')]
const HOST_NAMES = [hashOf('hostname', 'bind'), hashOf('id', 'server')]

export function answerChaos(q: Query, view: View): void {
  const hash = q.labelHash[0]
  const text = VERSION_NAMES.includes(hash) ? view.version : HOST_NAMES.includes(hash) ? view.hostname : undefined
  if (text === undefined) {
    q.rcode = RCODE.REFUSED
    return
  }
  q.authoritative = true
  if (q.type !== TYPE.TXT && q.type !== TYPE.ANY) return
  const { packet } = q
  const start = q.base + q.at
  const record = [0xc0, QUESTION_NAME, 0, TYPE.TXT, 0, 3, 0, 0, 0, 0, 0, text.length + 1, text.length]
  for (let i = 0; i < record.length; i++) packet[start + i] = record[i]
  for (let i = 0; i < text.length; i++) packet[start + record.length + i] = text[i]
  q.at += record.length + text.length
  q.answers = 1
}
