// What goes wrong around the server: taken ports, addresses of others, a full disk, a sudden end, a lost worker's share.

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exchangeUdp } from '../support/dns-client.ts'
import { FaultServer, question } from '../support/fault-server.ts'
import { type HoldfastProcess, metric, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { brief, untilAnswer } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

let sandbox: Sandbox
let port: number
beforeEach(async () => {
  sandbox = new Sandbox()
  port = await freePort()
  sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1']))
})
afterEach(() => sandbox.close())

function start(listen = `127.0.0.1:${port}`, ...more: readonly string[]): HoldfastProcess {
  return sandbox.spawn(['dns', '--zones', sandbox.path('zones'), '--listen', listen, ...more])
}

/** The one error line of a server that could not start. */
async function refusal(server: HoldfastProcess): Promise<string> {
  expect(await server.ended()).toBe(1)
  const errors = server.output.split('\n').filter((line) => /cannot/iu.test(line))
  expect(errors).toHaveLength(1)
  expect(server.output).not.toMatch(/\bat .*\.ts:\d+/u)
  return errors[0]
}

describe.each([['batched'], ['plain']])('with %s UDP, a port', (kind) => {
  const more = kind === 'plain' ? ['--plain-udp'] : []

  test('taken for UDP is one clear error', async () => {
    const taken: Socket = createSocket('udp4').bind(port, '127.0.0.1')
    await once(taken, 'listening')
    expect(await refusal(start(undefined, ...more))).toContain(
      `Cannot listen on "127.0.0.1:${port}" (UDP): another program has it`,
    )
    taken.close()
  })

  test('taken for TCP is one clear error', async () => {
    const taken = createServer().listen(port, '127.0.0.1')
    await once(taken, 'listening')
    expect(await refusal(start(undefined, ...more))).toContain(
      `Cannot listen on "127.0.0.1:${port}" (TCP): another program has it`,
    )
    taken.close()
  })

  test('of another holdfast is refused, and the first goes on', async () => {
    const first = start(undefined, ...more)
    await first.logged(/Listening on/u)
    expect(await refusal(start(undefined, ...more))).toContain('another program has it')
    expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  })
})

test('an address of another host is one clear error', async () => {
  expect(await refusal(start('192.0.2.1:53'))).toContain('this host does not have that address')
})

test('an HTTP port that is taken is one clear error', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const address = taken.address()
  const health = typeof address === 'object' ? address?.port : 0
  expect(await refusal(start(undefined, '--health', `127.0.0.1:${health}`))).toContain('the port is in use')
  taken.close()
})

test('after kill -9 the server starts again at once, on the same port', async () => {
  for (let round = 0; round < 3; round++) {
    const server = start()
    await server.logged(/Listening on/u)
    expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
    server.kill('SIGKILL')
    expect(await server.ended()).toBe('SIGKILL')
  }
})

describe.each([['batched'], ['plain']])('with %s UDP, a flood', (kind) => {
  test('of one question for an upstream that is silent is dropped beyond a limit, and zones are answered', async () => {
    const metrics = await freePort()
    const upstream = await FaultServer.start(() => undefined)
    const directives = [
      'bind 127.0.0.1',
      `file ${sandbox.path('zones/db.example.test')} example.test`,
      `forward corp.example 127.0.0.1:${upstream.port}`,
      `prometheus 127.0.0.1:${metrics}`,
    ]
    const file = sandbox.write('Corefile', `.:${port} {\n ${directives.join('\n ')}\n}\n`)
    await sandbox.serve('-conf', file, ...(kind === 'plain' ? ['--plain-udp'] : []))
    const socket = createSocket('udp4')
    const packet = question('a.corp.example.')
    const send = () => new Promise((resolve) => socket.send(packet, port, '127.0.0.1', resolve))
    await until('dropped queries', async () => {
      await Promise.all(Array.from({ length: 2000 }, send))
      return ((await metric(metrics, 'holdfast_handover_dropped_total')) ?? 0) > 0
    })
    socket.close()
    expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
    await upstream.stop()
  })
})

describe('a log that cannot be written', () => {
  const corefile = () =>
    sandbox.write(
      'Corefile',
      `.:${port} {\n bind 127.0.0.1\n auto {\n directory ${sandbox.path('zones')} db\\.(.*) {1}\n }\n log\n errors\n}\n`,
    )
  const served = () =>
    until('an answer', async () => {
      const [answer] = await exchangeUdp(port, [question('www.example.test.')], { timeoutMs: 100, attempts: 1 })
      return answer !== undefined
    })
  const askMany = async () => {
    const answers = await exchangeUdp(
      port,
      Array.from({ length: 2000 }, () => question('www.example.test.')),
    )
    expect(answers.filter((answer) => answer === undefined)).toEqual([])
  }

  test('because the disk is full stops nothing', async () => {
    const full = openSync('/dev/full', 'w')
    const server = sandbox.spawn(['dns', '-conf', corefile()], full)
    closeSync(full)
    await served()
    await askMany()
    sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.2'], 2))
    await untilAnswer(port, 'www.example.test.', '192.0.2.2')
    server.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
  })

  test('because nobody reads it any more stops nothing', async () => {
    const server = sandbox.spawn(['dns', '-conf', corefile()])
    await server.logged(/Listening on/u)
    server.closeOutput()
    await askMany()
    server.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
  })
})
