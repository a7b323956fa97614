// An answer in a form that can be compared: records as text lines with names in lower case, sections as sets. Letter
// case is left out because a server may compress a name against any other spelling of it (RFC 4343 section 4.1).

import { decodeMessage, type Message, type ResourceRecord } from '../../src/dns/message.ts'
import { formatName, lowerName } from '../../src/dns/name.ts'
import { canonicalRdata, formatRdata } from '../../src/dns/rdata/rdata.ts'
import { className, rcodeName, typeName } from '../../src/dns/types.ts'
import type { Answer } from '../support/dns-client.ts'

export type Response = Message | 'silence' | { readonly malformed: string }

export function responseOf(answer: Answer): Response {
  if (answer === undefined) return 'silence'
  const message = decodeMessage(answer)
  return typeof message === 'string' ? { malformed: message } : message
}

/** A line of zone file, its names in lower case. */
export function recordLine({ name, ttlSeconds, klass, type, rdata }: ResourceRecord): string {
  const text = formatRdata(type, canonicalRdata(type, rdata))
  return `${formatName(lowerName(name))} ${ttlSeconds} ${className(klass)} ${typeName(type)} ${text}`
}

/** As `dig` would show it, for a person who has to judge a difference. */
export function formatResponse(response: Response): string {
  if (response === 'silence') return ';; no answer'
  if ('malformed' in response) return `;; malformed: ${response.malformed}`
  const flags = (['qr', 'aa', 'tc', 'rd', 'ra', 'z', 'ad', 'cd'] as const).filter((flag) => response[flag]).join(' ')
  const { edns } = response
  return [
    `;; ${rcodeName(response.rcode)}, opcode ${response.opcode}, flags: ${flags}`,
    ...response.questions.map((q) => `;${formatName(q.name)} ${className(q.klass)} ${typeName(q.type)}`),
    ...section('ANSWER', response.answers),
    ...section('AUTHORITY', response.authorities),
    ...section('ADDITIONAL', response.additionals),
    ...(edns === undefined
      ? []
      : [
          `;; EDNS: version ${edns.version}, udp ${edns.udpBytes}${edns.do ? ', do' : ''}${edns.options
            .map((option) => `, option ${option.code}=${Buffer.from(option.data).toString('hex')}`)
            .join('')}`,
        ]),
  ].join('\n')
}

function section(title: string, records: readonly ResourceRecord[]): string[] {
  return records.length === 0 ? [] : [`;; ${title}`, ...records.map(recordLine)]
}
