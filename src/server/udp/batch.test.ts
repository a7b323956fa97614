import { expect, it } from 'vitest'
import { encodeMessage, decodeMessage, type Message } from '../../dns/message.ts'
import { parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/types.ts'
import type { Libc } from '../../lib/libc.ts'
import { Batch } from './batch.ts'

const NAME = parseName('www.example.')
const RESPONSE: Message = {
  ...{
    id: 7,
    qr: true,
    opcode: 0,
    aa: true,
    tc: false,
    rd: false,
    ra: false,
    z: false,
    ad: false,
    cd: false,
    rcode: 0,
  },
  questions: [{ name: NAME, type: TYPE.TXT, klass: 1 }],
  answers: [{ name: NAME, type: TYPE.TXT, klass: 1, ttlSeconds: 60, rdata: new Uint8Array(256).fill(255, 0, 1) }],
  authorities: [],
  additionals: [],
  edns: { udpBytes: 1232, version: 0, do: true, options: [{ code: 3, data: Uint8Array.of(1, 2, 3) }] },
}
const OPT_BYTES = 11 + 4 + 3

/** Only addresses are asked for; nothing is sent. */
const batch = () => new Batch({ address: () => 4096 } as unknown as Libc, 2, 4096, false)

it('an answer too long for its way is cut to question and OPT, with TC', () => {
  const memory = batch()
  const wire = encodeMessage(RESPONSE)
  const saved = { packet: new Uint8Array(), name: new Uint8Array(16), control: undefined }
  memory.restore(1, saved, wire)
  memory.reply(1, wire.length, OPT_BYTES)
  expect(memory.cut(1)).toBe(true)
  const start = memory.packetAt(1)
  const expected = { ...RESPONSE, tc: true, answers: [] }
  const length = encodeMessage(expected).length
  expect(decodeMessage(memory.packets.slice(start, start + length))).toEqual(expected)
  // Cut once, it cannot become any shorter: the caller gives it up instead of trying for ever.
  expect(memory.cut(1)).toBe(false)
})
