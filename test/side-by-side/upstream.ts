// The servers of the world outside, as far as the trees have aliases for it: outside.example has all types, an alias and
// names that are not there.

import { formatName, lowerName, parseName } from '../../src/dns/name.ts'
import { CLASS, RCODE, TYPE } from '../../src/dns/types.ts'
import { answer, denial, FaultServer, type Handler } from '../support/fault-server.ts'

const TTL_SECONDS = 77

const respond: Handler = ({ query, send }) => {
  const [{ name, type }] = query.questions
  const asked = formatName(lowerName(name))
  if (!asked.endsWith('outside.example.') || asked.startsWith('missing.'))
    return send(denial(query, RCODE.NXDOMAIN, TTL_SECONDS, TTL_SECONDS))
  const record = (owner: Uint8Array, kind: number, rdata: Uint8Array) => ({
    name: owner,
    type: kind,
    klass: CLASS.IN,
    ttlSeconds: TTL_SECONDS,
    rdata,
  })
  const data = DATA.get(type)
  const target = parseName('www.outside.example.')
  const alias = asked.startsWith('alias.') ? [record(name, TYPE.CNAME, target)] : []
  const owner = alias.length > 0 ? target : name
  if (data === undefined && alias.length === 0) return send(denial(query, RCODE.NOERROR, TTL_SECONDS, TTL_SECONDS))
  send(answer(query, { answers: [...alias, ...(data === undefined ? [] : [record(owner, type, data)])] }))
}

const DATA: ReadonlyMap<number, Uint8Array> = new Map([
  [TYPE.A, Uint8Array.of(192, 0, 2, 1)],
  [TYPE.AAAA, Uint8Array.of(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x99)],
  [TYPE.TXT, Uint8Array.of(4, ...Buffer.from('text'))],
])

export function startUpstream(): Promise<FaultServer> {
  return FaultServer.start(respond)
}
