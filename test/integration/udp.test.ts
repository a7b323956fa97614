// UDP clients of every kind, from dig with all its options to noise: each gets the answer it deserves or none, with
// batched and with plain sockets alike.

import { createSocket } from 'node:dgram'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RCODE, TYPE } from '../../src/dns/types.ts'
import { question } from '../support/fault-server.ts'
import { dig, type HoldfastProcess, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { answersToPackets, brief } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'

describe.each([['batched'], ['plain']])('%s UDP', (kind) => {
  const sandbox = new Sandbox()
  let server: HoldfastProcess
  let port: number
  beforeAll(async () => {
    port = await freePort()
    const big = Array.from({ length: 12 }, (_, i) => `big TXT "${String(i).padStart(150, 'x')}"`)
    const middle = Array.from({ length: 5 }, (_, i) => `middle TXT "${String(i).padStart(150, 'x')}"`)
    sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1', '*.wild A 192.0.2.2', ...big, ...middle]))
    server = await sandbox.serve(
      ...['--zones', sandbox.path('zones'), '--listen', `127.0.0.1:${port}`, '--listen', `[::1]:${port}`],
      ...(kind === 'plain' ? ['--plain-udp'] : ['--workers', '2']),
    )
  })
  afterAll(() => sandbox.close())

  test('data, a wildcard, no data and no name', async () => {
    expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
    expect(await brief(port, 'a.b.wild.example.test.')).toBe('192.0.2.2')
    expect(await brief(port, 'www.example.test.', TYPE.AAAA)).toBe('NOERROR')
    expect(await brief(port, 'nowhere.example.test.')).toBe('NXDOMAIN')
    expect(await brief(port, 'www.elsewhere.test.')).toBe('REFUSED')
  })

  test('IPv6', async () => {
    expect(await dig(port, '@::1', 'www.example.test', '+short')).toBe('192.0.2.1')
    expect(await dig(port, '@::1', '+tcp', 'www.example.test', '+short')).toBe('192.0.2.1')
  })

  test('what does not fit is truncated, and dig asks again over TCP', async () => {
    expect(await dig(port, '+noedns', '+ignore', 'middle.example.test', 'TXT')).toMatch(
      /flags: qr aa tc rd.*ANSWER: 0/u,
    )
    expect(await dig(port, '+bufsize=1232', '+ignore', 'middle.example.test', 'TXT')).toMatch(
      /flags: qr aa rd;.*ANSWER: 5/u,
    )
    expect(await dig(port, '+bufsize=4096', '+ignore', 'big.example.test', 'TXT')).toMatch(/flags: qr aa tc rd;/u)
    const retried = await dig(port, 'big.example.test', 'TXT')
    expect(retried).toContain(';; Truncated, retrying in TCP mode.')
    expect(retried).toContain('ANSWER: 12')
    expect(retried).toContain('(TCP)')
  })

  test('EDNS: our size, DO copied, versions we do not speak, tiny sizes, options that mean nothing to us', async () => {
    expect(await dig(port, '+dnssec', 'www.example.test')).toContain('EDNS: version: 0, flags: do; udp: 1232')
    expect(await dig(port, '+edns=1', '+noednsneg', 'www.example.test')).toContain('status: BADVERS')
    expect(await dig(port, '+bufsize=1', '+ignore', 'www.example.test')).toContain('192.0.2.1')
    const withSubnet = await dig(port, '+subnet=198.51.100.0/24', 'www.example.test')
    expect(withSubnet).toContain('192.0.2.1')
    expect(withSubnet).not.toContain('CLIENT-SUBNET')
    expect(await dig(port, '+ednsopt=65001:abcd', 'www.example.test')).toContain('192.0.2.1')
  })

  test('a cookie comes back, is good at the second time, and belongs to the client', async () => {
    const cookie = async (...args: string[]) =>
      /COOKIE: ([0-9a-f]+) \((\w+)\)/u.exec(await dig(port, 'www.example.test', ...args))?.slice(1) ?? []
    const [first, state] = await cookie('+cookie=0123456789abcdef')
    expect(first).toMatch(/^0123456789abcdef01000000[0-9a-f]{24}$/u)
    expect(state).toBe('good')
    const [second] = await cookie(`+cookie=${first}`)
    expect(second.slice(0, 24)).toBe(first.slice(0, 24))
    const [other] = await cookie('+cookie=1123456789abcdef')
    expect(other.slice(32)).not.toBe(first.slice(32))
  })

  test('the version and the name of the server, and NSID where there is none', async () => {
    expect(await dig(port, 'CH', 'TXT', 'version.bind', '+short')).toMatch(/^"holdfast \d+\.\d+\.\d+"$/u)
    expect(await dig(port, 'CH', 'TXT', 'hostname.bind', '+short')).toMatch(/^".+"$/u)
    expect(await dig(port, '+nsid', 'www.example.test')).not.toContain('NSID')
  })

  test('fragments of a header, responses and packets too long to be queries get no answer', async () => {
    const header = question('www.example.test.')
    const fragments = Array.from({ length: 12 }, (_, length) => header.subarray(0, length))
    const responses = Array.from({ length: 100 }, (_, id) => question('www.example.test.', TYPE.A, { id, qr: true }))
    expect(await answersToPackets(port, [...fragments, ...responses])).toEqual([])
    expect(await answersToPackets(port, [new Uint8Array(65_000).fill(0x80)])).toEqual([])
    expect(await answersToPackets(port, [...fragments, ...responses], '::1')).toEqual([])
  })

  test('broken queries get FORMERR, other opcodes NOTIMP', async () => {
    const good = question('www.example.test.')
    const cut = good.subarray(0, good.length - 3)
    const loop = Uint8Array.from([...good.subarray(0, 12), 0xc0, 12, 0, 1, 0, 1])
    const longer = Uint8Array.from([...good, 0, 0, 0])
    const update = question('www.example.test.', TYPE.SOA, { opcode: 5 })
    const answers = await answersToPackets(port, [cut, loop, longer, update])
    expect(answers.map(({ bytes }) => bytes[3] & 15)).toEqual([
      RCODE.FORMERR,
      RCODE.FORMERR,
      RCODE.FORMERR,
      RCODE.NOTIMP,
    ])
  })

  test('a flood of noise from many ports leaves the server as it was', async () => {
    const sockets = Array.from({ length: 20 }, () => createSocket('udp4'))
    const sent = sockets.flatMap((socket, s) =>
      Array.from({ length: 100 }, (_, i) => {
        const noise = Uint8Array.from({ length: (i * 7) % 600 }, (_unused, at) => (at * 31 + i * 17 + s * 13) & 255)
        return new Promise((resolve) => socket.send(noise, port, '127.0.0.1', resolve))
      }),
    )
    await Promise.all(sent)
    for (const socket of sockets) socket.close()
    // Some of the noise may still fill the socket: the question is asked again then.
    expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
    expect(server.output).not.toContain('ERROR')
  })
})

test('on a wildcard address the answer leaves from the address asked', async () => {
  const sandbox = new Sandbox()
  try {
    const port = await freePort()
    sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1']))
    await sandbox.serve('--zones', sandbox.path('zones'), '--listen', `:${port}`)
    for (const host of ['127.0.0.1', '127.0.0.5', '127.1.2.3', '::1']) {
      const [{ address }] = await answersToPackets(port, [question('www.example.test.')], host)
      expect(address).toBe(host)
    }
  } finally {
    await sandbox.close()
  }
})
