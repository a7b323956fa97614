import { describe, expect, it } from 'vitest'
import { question } from '../../test/support/fault-server.ts'
import { LocalZones } from '../../test/support/local-answer.ts'
import type { Message, ResourceRecord } from '../dns/message.ts'
import { parseName } from '../dns/name.ts'
import { CLASS, RCODE, TYPE } from '../dns/types.ts'

const NOW = 1_800_000_000
const MAC = new Uint8Array(32).fill(0xee)
const EDNS = { edns: { udpBytes: 1232, version: 0, do: false, options: [] } }

const zones = new LocalZones()
zones.edns.nowSeconds = NOW
zones.add('example.', '$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n')

function ask(packet: Uint8Array): Message {
  const answer = zones.ask(packet, undefined, false)
  if (typeof answer !== 'object') throw new Error('no answer')
  return answer
}

function tsig(rdata: readonly number[], klass: number = CLASS.ANY): ResourceRecord {
  return { name: parseName('Key.test.'), type: TYPE.TSIG, klass, ttlSeconds: 0, rdata: Uint8Array.from(rdata) }
}

const ALGORITHM = parseName('hmac-sha256.')
const SIGNED = [...ALGORITHM, 0, 0, 0x6b, 0x49, 0xd2, 0, 1, 0x2c, 0, MAC.length, ...MAC, 0x12, 0x67, 0, 0, 0, 0]
const SOA: ResourceRecord = {
  name: parseName('example.'),
  type: TYPE.SOA,
  klass: CLASS.IN,
  ttlSeconds: 0,
  rdata: Uint8Array.from([...parseName('ns.example.'), ...parseName('h.example.'), ...new Uint8Array(20)]),
}

/** With the record behind the others, of which OPT may be one. */
function signed(packet: Uint8Array): Uint8Array {
  const { name, type, klass, rdata } = tsig(SIGNED)
  const record = [...name, 0, type, 0, klass, 0, 0, 0, 0, 0, rdata.length, ...rdata]
  return Uint8Array.from([...packet.with(11, packet[11] + 1), ...record])
}

describe('a query with TSIG', () => {
  it.each([{}, EDNS])('is answered with the error BADKEY (RFC 8945 section 5.2.1)', (edns) => {
    const answer = ask(signed(question('ns.example.', TYPE.A, edns)))
    expect(answer).toMatchObject({ rcode: RCODE.NOTAUTH, aa: false, answers: [], questions: [{ type: TYPE.A }] })
    const record = answer.additionals.at(-1)
    const rdata = [...ALGORITHM, 0, 0, 0x6b, 0x49, 0xd2, 0, 1, 0x2c, 0, 0, 0x12, 0x67, 0, RCODE.BADKEY, 0, 0]
    expect(record).toEqual(tsig(rdata))
    expect(answer.edns === undefined).toBe(!('edns' in edns))
  })

  const address: ResourceRecord = { ...SOA, type: TYPE.A, rdata: Uint8Array.of(192, 0, 2, 1) }
  it.each([
    ['not the last record', [tsig(SIGNED), address]],
    ['there twice', [tsig(SIGNED), tsig(SIGNED)]],
    ['of class IN', [tsig(SIGNED, CLASS.IN)]],
    ['cut off', [tsig(SIGNED.slice(0, -1))]],
    ['cut off in the MAC', [tsig(SIGNED.slice(0, 40))]],
    ['cut off in the algorithm', [tsig(SIGNED.slice(0, 6))]],
    ['empty', [tsig([])]],
    ['too long', [tsig([...SIGNED, 0])]],
  ])('is malformed when TSIG is %s', (_, additionals) => {
    expect(ask(question('ns.example.', TYPE.A, { additionals }))).toMatchObject({
      rcode: RCODE.FORMERR,
      questions: [],
      additionals: [],
    })
  })
})

describe('IXFR', () => {
  it.each([
    ['with the SOA of the client', [SOA], RCODE.REFUSED],
    ['without it', [], RCODE.FORMERR],
    ['with another record', [{ ...SOA, type: TYPE.A, rdata: Uint8Array.of(192, 0, 2, 1) }], RCODE.FORMERR],
    ['with two of them', [SOA, SOA], RCODE.FORMERR],
    ['with one that is cut off', [{ ...SOA, rdata: SOA.rdata.subarray(0, -1) }], RCODE.FORMERR],
  ])('%s', (_, authorities, rcode) => {
    expect(ask(question('example.', TYPE.IXFR, { authorities })).rcode).toBe(rcode)
    expect(ask(question('example.', TYPE.IXFR, { authorities, ...EDNS })).rcode).toBe(rcode)
  })

  it('is the only question with an authority section', () => {
    expect(ask(question('example.', TYPE.AXFR, { authorities: [SOA] })).rcode).toBe(RCODE.FORMERR)
    expect(ask(question('example.', TYPE.SOA, { authorities: [SOA] })).rcode).toBe(RCODE.FORMERR)
  })
})

describe('flags of a query', () => {
  it('RD and CD are copied, AD is not', () => {
    const flags = { rd: true, cd: true, ad: true, z: true, ra: true, tc: true }
    expect(ask(question('ns.example.', TYPE.A, flags))).toMatchObject({
      ...{ rd: true, cd: true, ad: false, z: false, ra: false, tc: false, aa: true },
    })
    expect(ask(question('ns.example.', TYPE.A, { rd: false }))).toMatchObject({ rd: false, cd: false })
  })

  it('mean nothing for an opcode that is not implemented', () => {
    expect(ask(question('ns.example.', TYPE.A, { opcode: 15, rd: true, cd: true }))).toMatchObject({
      ...{ rcode: RCODE.NOTIMP, opcode: 15, rd: false, cd: false, questions: [] },
    })
  })
})
