import fc from 'fast-check'
import { expect, test } from 'vitest'
import { address, answer, decoded, denial, question } from '../../../test/support/fault-server.ts'
import { parseName } from '../../dns/name.ts'
import { CLASS, RCODE, TYPE } from '../../dns/types.ts'
import { emptyAnswer, type Query, readQuery, upstreamQuery } from './query.ts'
import { encodeReply, isAnswerTo, type Reply, readReply } from './reply.ts'

const EDNS = { udpBytes: 4096, version: 0, do: true, options: [{ code: 10, data: new Uint8Array(8) }] }

function queryOf(message: Uint8Array): Query {
  const query = readQuery(message)
  if (typeof query === 'number') throw new Error(`rcode ${query}`)
  return query
}

function replyOf(message: Uint8Array): Reply {
  const reply = readReply(message)
  if (reply === undefined) throw new Error('malformed')
  return reply
}

const record = (name: string, type: number, ttlSeconds: number, rdata: Uint8Array) => ({
  name: parseName(name),
  type,
  klass: CLASS.IN,
  ttlSeconds,
  rdata,
})

test('upstream gets the question with RD, CD and DO, the AD bit set, and none of the EDNS options', () => {
  const sent = decoded(upstreamQuery(queryOf(question('WWW.example.', TYPE.MX, { cd: true, edns: EDNS }))))
  expect(sent).toMatchObject({ rd: true, cd: true, ad: true, edns: { udpBytes: 1232, do: true, options: [] } })
  expect(sent.questions).toEqual([{ name: parseName('WWW.example.'), type: TYPE.MX, klass: CLASS.IN }])
  expect(decoded(upstreamQuery(queryOf(question('www.example.')))).edns).toBeUndefined()
})

test('questions share a key unless name, type, RD, CD or DO differ', () => {
  const key = (...args: Parameters<typeof question>): string => queryOf(question(...args)).key
  expect(key('WWW.example.')).toBe(key('www.EXAMPLE.', TYPE.A, { ad: true, id: 1, edns: { ...EDNS, do: false } }))
  const different = [
    key('www.example.'),
    key('ww.example.'),
    key('www.example.', TYPE.AAAA),
    key('www.example.', TYPE.A, { rd: false }),
    key('www.example.', TYPE.A, { cd: true }),
    key('www.example.', TYPE.A, { edns: EDNS }),
  ]
  expect(new Set(different).size).toBe(different.length)
})

test('messages that are no ordinary query get the rcode they deserve', () => {
  expect(readQuery(question('example.', TYPE.AXFR))).toBe(RCODE.REFUSED)
  expect(readQuery(question('example.', TYPE.A, { opcode: 5 }))).toBe(RCODE.NOTIMP)
  expect(readQuery(question('example.', TYPE.A, { qr: true }))).toBe(RCODE.FORMERR)
  expect(readQuery(question('example.', TYPE.A, { questions: [] }))).toBe(RCODE.FORMERR)
  expect(readQuery(question('example.').slice(0, -1))).toBe(RCODE.FORMERR)
})

test('a client gets its own id, letter case, RD and CD bits, and an OPT record of ours', () => {
  const upstream = decoded(address(decoded(question('www.example.', TYPE.A, { id: 1, edns: EDNS })), '192.0.2.1', 60))
  const reply = replyOf(answer(upstream, { rcode: RCODE.BADCOOKIE, edns: EDNS }))
  const client = queryOf(
    question('wWw.eXample.', TYPE.A, { id: 77, rd: false, cd: true, edns: { ...EDNS, do: false } }),
  )
  const message = decoded(encodeReply(reply, client, 1400, 33))
  expect(message).toMatchObject({ id: 77, rd: false, cd: true, ra: true, rcode: RCODE.BADCOOKIE })
  expect(message.questions[0].name).toEqual(parseName('wWw.eXample.'))
  expect(message.answers).toMatchObject([{ ttlSeconds: 33 }])
  expect(message.edns).toEqual({ udpBytes: 1400, version: 0, do: false, options: [] })
})

test('the AD bit is only shown to clients that asked for it', () => {
  const reply = replyOf(answer(decoded(question('www.example.')), { ad: true }))
  const shown = (parts: Parameters<typeof question>[2]): boolean =>
    decoded(encodeReply(reply, queryOf(question('www.example.', TYPE.A, parts)), 1232)).ad
  expect([shown({}), shown({ ad: true }), shown({ edns: EDNS })]).toEqual([false, true, true])
})

test('answers are told apart as data, denials, failures and what must not be kept', () => {
  const query = decoded(question('www.example.'))
  const alias = record('www.example.', TYPE.CNAME, 60, parseName('web.example.'))
  const kinds = [
    address(query, '192.0.2.1'),
    denial(query, RCODE.NXDOMAIN, 60, 30),
    denial(query, RCODE.NOERROR, 60, 30),
    answer(query, { rcode: RCODE.SERVFAIL }),
    answer(query, { rcode: RCODE.NXDOMAIN }),
    answer(query, { rcode: RCODE.REFUSED }),
    answer(query, { answers: [alias] }),
    answer(query, { tc: true }),
    answer(query),
  ].map((message) => replyOf(message).kind)
  expect(kinds).toEqual(['success', 'denial', 'denial', 'failure', 'other', 'other', 'other', 'other', 'success'])
})

test('the time to keep is the lowest TTL, and the SOA minimum for denials', () => {
  const query = decoded(question('www.example.'))
  const a = record('www.example.', TYPE.A, 60, Uint8Array.of(1, 2, 3, 4))
  expect(replyOf(answer(query, { answers: [a, { ...a, ttlSeconds: 20 }] })).ttlSeconds).toBe(20)
  expect(replyOf(answer(query, { answers: [a, { ...a, ttlSeconds: 0x80000000 }] })).ttlSeconds).toBe(0)
  expect(replyOf(denial(query, RCODE.NXDOMAIN, 60, 30)).ttlSeconds).toBe(30)
  expect(replyOf(denial(query, RCODE.NXDOMAIN, 15, 30)).ttlSeconds).toBe(15)
  expect(replyOf(answer(query, { authorities: [record('example.', TYPE.NS, 900, parseName('ns.'))] })).ttlSeconds).toBe(
    5,
  )
  expect(replyOf(answer(query)).ttlSeconds).toBe(5)
})

test('records behind an OPT record are left out with it', () => {
  const plain = answer(decoded(question('www.example.')), {
    additionals: [record('a.example.', TYPE.A, 9, new Uint8Array(4))],
  })
  const opt = Uint8Array.of(0, 0, 41, 4, 208, 1, 0, 0, 0, 0, 0)
  const message = Uint8Array.from([...plain, ...opt, ...plain.subarray(plain.length - 16)])
  message[11] = 3
  const reply = replyOf(message)
  expect(reply.rcode).toBe(16)
  expect(reply.wire).toEqual(plain)
})

test('random and mutated bytes never throw, and what is accepted can be answered', () => {
  const whole = address(decoded(question('www.example.', TYPE.A, { edns: EDNS })), '192.0.2.1')
  const mutated = fc
    .array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
    .map((changes) => changes.reduce((bytes, [at, value]) => bytes.with(at, value), whole))
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 80 }), mutated), (bytes) => {
      const reply = readReply(bytes)
      const query = readQuery(bytes)
      isAnswerTo(bytes, whole)
      expect(emptyAnswer(bytes, RCODE.FORMERR, 1232).length).toBeGreaterThanOrEqual(12)
      if (typeof query !== 'number') expect(readQuery(upstreamQuery(query))).toMatchObject({ key: query.key })
      if (reply !== undefined && isAnswerTo(bytes, whole)) {
        const again = readReply(encodeReply(reply, queryOf(question('www.example.')), 1232))
        expect(again?.rcode).toBe(reply.rcode & 15)
      }
    }),
    { numRuns: 2000 },
  )
})

test('an answer whose names cannot be read is malformed, and so never passed on', () => {
  const asked = question('www.example.')
  const sound = address(decoded(asked), '192.0.2.1')
  expect(readReply(sound)).toBeDefined()
  // The first owner is a pointer to the question; here it points at itself.
  const loop = Uint8Array.from(sound)
  const owner = asked.length
  expect(loop[owner]).toBe(0xc0)
  loop[owner + 1] = owner
  expect(readReply(loop)).toBeUndefined()
})
