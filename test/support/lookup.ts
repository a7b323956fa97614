// One question, one decoded answer, from a server on loopback.

import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Message } from '../../src/dns/message.ts'
import { formatName } from '../../src/dns/name.ts'
import { formatRdata } from '../../src/dns/rdata/rdata.ts'
import { rcodeName, TYPE, typeName } from '../../src/dns/types.ts'
import { exchangeUdp } from './dns-client.ts'
import { decoded, question } from './fault-server.ts'
import { until } from './until.ts'

export async function lookup(port: number, name: string, type: number = TYPE.A): Promise<Message> {
  const [answer] = await exchangeUdp(port, [question(name, type)])
  if (answer === undefined) throw new Error(`no answer for ${name} from port ${port}`)
  return decoded(answer)
}

/** The rcode, or the data of the answer where there is any: enough to tell most answers apart. */
export async function brief(port: number, name: string, type?: number): Promise<string> {
  return briefly(await lookup(port, name, type))
}

export function briefly({ rcode, answers }: Message): string {
  const data = answers.map((record) => formatRdata(record.type, record.rdata))
  return data.length === 0 ? rcodeName(rcode) : data.join(' ')
}

/** Records as `owner type rdata`. */
export function recordLines(message: Message): string[] {
  return message.answers.map(({ name, type, rdata }) =>
    [formatName(name), typeName(type), formatRdata(type, rdata)].join(' '),
  )
}

/** Waits until the brief answer is this one. */
export async function untilAnswer(port: number, name: string, expected: string, type?: number): Promise<void> {
  let last = ''
  await until(`${name} answered with ${expected}`, async () => {
    last = await brief(port, name, type)
    return last === expected
  }).catch((cause: unknown) => {
    throw new Error(`${name} is answered with ${last}, not ${expected}`, { cause })
  })
}

export interface Datagram {
  readonly bytes: Uint8Array
  /** Where it came from. */
  readonly address: string
}

/**
 * Sends raw packets from one socket and then a good query; what arrives up to the answer of that one, without it.
 * Packets of one socket are answered in order, so nothing that comes later is missed.
 */
export async function answersToPackets(
  port: number,
  packets: readonly Uint8Array[],
  host = '127.0.0.1',
): Promise<Datagram[]> {
  const last = question('last.invalid.', TYPE.A, { id: 65_535 })
  const received: Datagram[] = []
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  try {
    return await new Promise((resolve, reject) => {
      socket.on('error', reject)
      socket.on('message', (bytes, { address }) => {
        if (bytes.readUInt16BE(0) === 65_535) resolve(received)
        else received.push({ bytes, address })
      })
      for (const packet of [...packets, last]) socket.send(packet, port, host)
    })
  } finally {
    socket.close()
  }
}
