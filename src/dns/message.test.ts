import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeMessage, type EdnsOption, encodeMessage, type Message, type ResourceRecord } from './message.ts'
import { parseName } from './name.ts'
import { TYPE } from './types.ts'

const EMPTY: Message = {
  id: 0x1234,
  qr: false,
  opcode: 0,
  aa: false,
  tc: false,
  rd: false,
  ra: false,
  z: false,
  ad: false,
  cd: false,
  rcode: 0,
  questions: [],
  answers: [],
  authorities: [],
  additionals: [],
}

function record(owner: string, type: number, rdata: ArrayLike<number>, ttlSeconds = 300): ResourceRecord {
  return { name: parseName(owner), type, klass: 1, ttlSeconds, rdata: Uint8Array.from(rdata) }
}

function address(owner: string, last: number): ResourceRecord {
  return record(owner, TYPE.A, [192, 0, 2, last])
}

const ns = (owner: string, target: string): ResourceRecord => record(owner, TYPE.NS, parseName(target))

function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'))
}

/** A header with the given counts of questions, answers, authorities and additionals. */
function header(...counts: number[]): string {
  return `0001 8000 ${counts.map((count) => count.toString(16).padStart(4, '0')).join(' ')}`
}

/** www.example. A IN */
const QUESTION = '03777777 076578616d706c65 00 0001 0001'

describe('decodeMessage', () => {
  it('expands compressed names in owners and in rdata', () => {
    const mx = 'c00c 000f 0001 0000012c 0009 000a 046d61696c c010'
    expect(decodeMessage(hex(`${header(1, 1, 0, 0)} ${QUESTION} ${mx}`))).toMatchObject({
      questions: [{ name: parseName('www.example.'), type: TYPE.A, klass: 1 }],
      answers: [record('www.example.', TYPE.MX, [0, 10, ...parseName('mail.example.')])],
    })
  })

  it.each([
    ['SRV', TYPE.SRV, '0001 0002 0003', 'c010'],
    ['AFSDB', TYPE.AFSDB, '0001', 'c010'],
    ['DNAME', TYPE.DNAME, '', 'c010'],
    ['NAPTR', TYPE.NAPTR, '0001 0002 0153 0161 00', 'c010'],
  ])('tolerates compression in %s, which must not be sent', (_, type, before, name) => {
    const rdata = hex(before + name)
    const start = `c00c ${type.toString(16).padStart(4, '0')} 0001 00000000 00${rdata.length.toString(16).padStart(2, '0')}`
    const message = decodeMessage(hex(`${header(1, 1, 0, 0)} ${QUESTION} ${start} ${before} ${name}`))
    expect(message).toMatchObject({ answers: [{ rdata: Uint8Array.from([...hex(before), ...parseName('example.')]) }] })
  })

  it('takes the OPT record for EDNS and joins the two halves of the response code', () => {
    const opt = '00 0029 04d0 01 00 8000 0006 000a 0002 abcd'
    expect(decodeMessage(hex(`${header(0, 0, 0, 1)} ${opt}`))).toMatchObject({
      rcode: 16,
      additionals: [],
      edns: { udpBytes: 1232, version: 0, do: true, options: [{ code: 10, data: hex('abcd') }] },
    })
  })

  it.each([
    ['a short header', '0001 8000 0000', 'the message ends inside the header'],
    [
      'a pointer to itself',
      `${header(1, 0, 0, 0)} c00c 0001 0001`,
      'the compression pointer at 12 leads to 12, not backward',
    ],
    [
      'a forward pointer',
      `${header(1, 0, 0, 0)} c014 0001 0001 0000`,
      'the compression pointer at 12 leads to 20, not backward',
    ],
    [
      'a loop over a label',
      `${header(1, 1, 0, 0)} ${QUESTION} 0161 c01d 0001 0001 00000000 0000`,
      'the compression pointer at 31 leads to 29, not backward',
    ],
    [
      'a pointer into the header',
      `${header(1, 0, 0, 0)} c004 0001 0001`,
      'the compression pointer at 12 leads into the header',
    ],
    ['half a pointer', `${header(1, 0, 0, 0)} c0`, 'the message ends inside a compression pointer'],
    [
      'an unknown kind of label',
      `${header(1, 0, 0, 0)} 41 00 0001 0001`,
      'the label at 12 is of the unknown kind 0x40',
    ],
    ['a name of 256 bytes', `${header(1, 0, 0, 0)} ${'0178'.repeat(127)} 0178 00`, 'a name is longer than 255 bytes'],
    ['a label cut off', `${header(1, 0, 0, 0)} 0377`, 'the message ends inside a label'],
    ['a name cut off', `${header(1, 0, 0, 0)} 0177`, 'the message ends inside a name'],
    ['a question cut off', `${header(1, 0, 0, 0)} 00 0001`, 'the message ends inside a question'],
    ['more questions counted than sent', `${header(2, 0, 0, 0)} ${QUESTION}`, 'the message ends inside a name'],
    ['more records counted than sent', `${header(1, 65535, 0, 0)} ${QUESTION}`, 'the message ends inside a name'],
    ['a record cut off', `${header(0, 1, 0, 0)} 00 0001 0001`, 'the message ends inside a record'],
    ['rdata cut off', `${header(0, 1, 0, 0)} 00 0001 0001 00000000 0004 c000`, 'the message ends inside rdata'],
    [
      'a name past its rdata',
      `${header(0, 1, 0, 0)} 00 0002 0001 00000000 0001 0161 00`,
      'the names in rdata of type 2 do not fit its length',
    ],
    [
      'rdata too short for a name',
      `${header(0, 1, 0, 0)} 00 000f 0001 00000000 0002 0001`,
      'rdata of type 15 ends before its name',
    ],
    ['bytes left over', `${header(1, 0, 0, 0)} ${QUESTION} 000000`, '3 bytes follow the last record'],
    [
      'two OPT records',
      `${header(0, 0, 0, 2)} ${'00 0029 04d0 00000000 0000'.repeat(2)}`,
      'there is more than one OPT record',
    ],
    [
      'an OPT record with an owner',
      `${header(0, 0, 0, 1)} 0161 00 0029 04d0 00000000 0000`,
      'the OPT record is not owned by the root',
    ],
    [
      'half an option',
      `${header(0, 0, 0, 1)} 00 0029 04d0 00000000 0003 000a 00`,
      'the message ends inside an EDNS option',
    ],
    [
      'an overlong option',
      `${header(0, 0, 0, 1)} 00 0029 04d0 00000000 0005 000a 0002 00`,
      'the message ends inside an EDNS option',
    ],
  ])('gives the reason for refusing %s', (_, bytes, reason) => {
    expect(decodeMessage(hex(bytes))).toBe(reason)
  })
})

describe('encodeMessage', () => {
  it('compresses owners, and names in rdata of the types of RFC 1035 only', () => {
    const questions = [{ name: parseName('www.example.'), type: TYPE.A, klass: 1 }]
    const bytes = encodeMessage({
      ...EMPTY,
      questions,
      answers: [
        record('www.example.', TYPE.CNAME, parseName('web.example.')),
        record('web.example.', TYPE.SRV, [0, 1, 0, 2, 0, 3, ...parseName('web.example.')]),
      ],
    })
    const tail =
      'c00c 0005 0001 0000012c 0006 03776562 c010  c029 0021 0001 0000012c 0013 000100020003 03776562 076578616d706c65 00'
    expect(Buffer.from(bytes.subarray(29)).toString('hex')).toBe(Buffer.from(hex(tail)).toString('hex'))
  })

  it('keeps letter case by compressing only against the same spelling', () => {
    const message = {
      ...EMPTY,
      answers: [address('WWW.example.', 1), address('www.EXAMPLE.', 2), address('www.example.', 3)],
    }
    expect(decodeMessage(encodeMessage(message))).toEqual(message)
  })

  it('passes on rdata that does not fit its type', () => {
    const broken = { ...EMPTY, answers: [record('a.', TYPE.SOA, [3, 1]), record('a.', TYPE.MX, [0])] }
    expect(encodeMessage(broken).length).toBe(12 + 3 + 10 + 2 + 2 + 10 + 1)
  })

  const big: Message = {
    ...EMPTY,
    qr: true,
    aa: true,
    questions: [{ name: parseName('big.example.'), type: TYPE.A, klass: 1 }],
    answers: [
      record('big.example.', TYPE.CNAME, parseName('set.example.')),
      ...Array.from({ length: 40 }, (_, index) => address('set.example.', index)),
    ],
    edns: { udpBytes: 1232, version: 0, do: false, options: [] },
  }

  it('leaves out a whole RRset that does not fit, and says so with TC', () => {
    const bytes = encodeMessage(big, 512)
    expect(bytes.length).toBeLessThanOrEqual(512)
    expect(decodeMessage(bytes)).toEqual({ ...big, tc: true, answers: big.answers.slice(0, 1) })
  })

  it('compresses nothing against what it left out', () => {
    const additionals = [address('set.example.', 1)]
    const bytes = encodeMessage({ ...big, additionals, answers: big.answers.slice(1) }, 512)
    expect(decodeMessage(bytes)).toMatchObject({ tc: true, answers: [], additionals: [] })
  })

  it('leaves out additional data silently', () => {
    const message = { ...big, answers: big.answers.slice(0, 1), additionals: big.answers.slice(1) }
    expect(decodeMessage(encodeMessage(message, 512))).toEqual({ ...message, additionals: [] })
  })

  it('sets TC when the glue of a referral does not fit', () => {
    const glue = Array.from({ length: 40 }, (_, index) => address(`n${index}.sub.example.`, index))
    const referral = { ...EMPTY, qr: true, authorities: [ns('sub.example.', 'n1.sub.example.')], additionals: glue }
    const message = decodeMessage(encodeMessage(referral, 512))
    expect(message).toMatchObject({ tc: true, authorities: referral.authorities })
    expect((message as Message).additionals.length).toBeGreaterThan(20)
  })

  it('refuses a limit that not even the question fits', () => {
    expect(() => encodeMessage(big, 30)).toThrow(RangeError)
  })
})

describe('random messages', () => {
  const u16 = fc.integer({ min: 0, max: 0xffff })
  const bytes = (maxLength: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength })
  const label = fc.oneof(
    fc.constantFrom('a', 'b', 'www', 'Www', 'example').map((text) => Buffer.from(text)),
    fc.uint8Array({ minLength: 1, maxLength: 63 }),
  )
  const name = fc
    .array(label, { maxLength: 6 })
    .map((labels) => Uint8Array.from([...labels.flatMap((each) => [each.length, ...each]), 0]))
    .filter((wire) => wire.length <= 255)
  const rdata: fc.Arbitrary<{ type: number; rdata: Uint8Array }> = fc.oneof(
    fc.record({ type: fc.constantFrom(TYPE.A, TYPE.TXT, TYPE.AAAA, 65280), rdata: bytes(40) }),
    fc.record({ type: fc.constantFrom(TYPE.NS, TYPE.CNAME, TYPE.PTR, TYPE.DNAME, TYPE.MB), rdata: name }),
    fc.record({ type: fc.constant(TYPE.MX), rdata: name.map((wire) => Uint8Array.from([0, 10, ...wire])) }),
    fc.record({ type: fc.constant(TYPE.SRV), rdata: name.map((wire) => Uint8Array.from([0, 1, 0, 2, 0, 3, ...wire])) }),
    fc.record({
      type: fc.constant(TYPE.SOA),
      rdata: fc
        .tuple(name, name, fc.uint8Array({ minLength: 20, maxLength: 20 }))
        .map(([primary, mailbox, numbers]) => Uint8Array.from([...primary, ...mailbox, ...numbers])),
    }),
  )
  const records = fc.array(
    fc
      .tuple(name, rdata, u16, fc.integer({ min: 0, max: 0xffffffff }))
      .map(([owner, data, klass, ttlSeconds]): ResourceRecord => ({ name: owner, klass, ttlSeconds, ...data })),
    { maxLength: 6 },
  )
  const option: fc.Arbitrary<EdnsOption> = fc.record({ code: u16, data: bytes(20) })
  const edns = fc.record({
    udpBytes: u16,
    version: fc.integer({ min: 0, max: 255 }),
    do: fc.boolean(),
    options: fc.array(option, { maxLength: 4 }),
  })
  const plain = fc.record({
    ...{ id: u16, qr: fc.boolean(), opcode: fc.integer({ min: 0, max: 15 }), aa: fc.boolean(), tc: fc.boolean() },
    ...{ rd: fc.boolean(), ra: fc.boolean(), z: fc.boolean(), ad: fc.boolean(), cd: fc.boolean() },
    rcode: fc.integer({ min: 0, max: 15 }),
    questions: fc.array(fc.record({ name, type: u16, klass: u16 }), { maxLength: 3 }),
    ...{ answers: records, authorities: records, additionals: records },
  })
  const message: fc.Arbitrary<Message> = fc.oneof(
    plain,
    fc
      .tuple(plain, edns, fc.integer({ min: 0, max: 4095 }))
      .map(([base, opt, rcode]) => ({ ...base, rcode, edns: opt })),
  )
  const outcome = (input: Uint8Array): string => (typeof decodeMessage(input) === 'string' ? 'reason' : 'message')

  it('come back from the wire as they were', () => {
    fc.assert(
      fc.property(message, (sent) => {
        expect(decodeMessage(encodeMessage(sent))).toEqual(sent)
      }),
      { numRuns: 500 },
    )
  })

  it('stay within a limit and decodable under it', () => {
    fc.assert(
      fc.property(message, fc.integer({ min: 1200, max: 1500 }), (sent, limit) => {
        const encoded = encodeMessage(sent, limit)
        expect(encoded.length).toBeLessThanOrEqual(limit)
        expect(outcome(encoded)).toBe('message')
      }),
    )
  })

  it('decode to a message or a reason whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (random) => {
        expect(['reason', 'message']).toContain(outcome(random))
      }),
      { numRuns: 3000 },
    )
  })

  it('decode to a message or a reason after bytes were changed, cut or added', () => {
    const edits = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 8 })
    fc.assert(
      fc.property(message, edits, fc.nat(), bytes(4), (sent, changes, cut, added) => {
        const mutated = Uint8Array.from([...encodeMessage(sent), ...added])
        for (const [at, octet] of changes) mutated[at % mutated.length] = octet
        expect(['reason', 'message']).toContain(outcome(mutated))
        expect(['reason', 'message']).toContain(outcome(mutated.subarray(0, cut % mutated.length)))
      }),
      { numRuns: 1000 },
    )
  })
})
