import { expect, test } from 'vitest'
import { decoded, question } from '../../../test/support/fault-server.ts'
import { recordLines } from '../../../test/support/lookup.ts'
import { encodeMessage } from '../../dns/message.ts'
import { ROOT } from '../../dns/name.ts'
import { parseRecord } from '../../dns/zonefile/format.ts'
import { relevantMessage } from './relevance.ts'
import { readReply } from './reply.ts'

function message(name: string, ...records: readonly string[]) {
  const answers = records.map((record) => ({ klass: 1, ...fields(record) }))
  return { ...decoded(question(name)), qr: true, answers }
}

function fields(record: string) {
  const { owner, type, ttl, rdata } = parseRecord(record, ROOT)
  return { name: owner, type, ttlSeconds: ttl, rdata }
}

test('records of the name and of the aliases from there are kept, in any order', () => {
  const whole = message(
    'WWW.example.',
    'c.example. 60 A 192.0.2.1',
    'b.example. 60 CNAME c.example.',
    'www.Example. 60 CNAME b.example.',
  )
  expect(relevantMessage(whole)).toBe(whole)
})

test('a DNAME above a name of the chain is kept', () => {
  const whole = message(
    'www.old.example.',
    'old.example. 60 DNAME new.example.',
    'www.old.example. 60 CNAME www.new.example.',
    'www.new.example. 60 A 192.0.2.1',
  )
  expect(relevantMessage(whole)).toBe(whole)
})

test('records of other names are left out', () => {
  const mixed = message(
    'www.example.',
    'www.example. 60 A 192.0.2.1',
    'bank.test. 60 A 192.0.2.66',
    'other.example. 60 DNAME evil.test.',
    'x.test. 60 CNAME www.example.',
  )
  expect(recordLines(relevantMessage(mixed))).toEqual(['www.example. A 192.0.2.1'])
})

test('aliases in a ring end', () => {
  const ring = message('a.example.', 'a.example. 60 CNAME b.example.', 'b.example. 60 CNAME a.example.')
  expect(relevantMessage(ring)).toBe(ring)
})

test('what is left out is neither kept nor passed on', () => {
  const reply = readReply(
    encodeMessage(message('www.example.', 'www.example. 60 A 192.0.2.1', 'b.test. 9 A 192.0.2.6')),
  )
  expect(reply && recordLines(decoded(reply.wire))).toEqual(['www.example. A 192.0.2.1'])
  expect(reply?.ttlSeconds).toBe(60)
})
