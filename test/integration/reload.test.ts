// Changes of the configuration and the end of the process, while queries are under way: nothing is lost.

import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServerStatus } from '../../src/cli/server-status.ts'
import { holdfast } from '../support/command-line.ts'
import { exchangeTcp, exchangeUdp } from '../support/dns-client.ts'
import { address, decoded, FaultServer, frame, question, type Received } from '../support/fault-server.ts'
import { Sandbox, zoneText } from '../support/holdfast-process.ts'
import { brief, briefly, untilAnswer } from '../support/lookup.ts'
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

/** A Corefile for the directory `zones`, with more directives. */
function corefile(...directives: readonly string[]): string {
  const auto = `auto {\n directory ${sandbox.path('zones')} db\\.(.*) {1}\n}`
  return `.:${port} {\n bind 127.0.0.1\n ${[auto, ...directives].join('\n ')}\n}\n`
}

/** dnsperf with one question for some seconds; how many queries it sent and lost. */
async function perf(seconds: number, transport: 'udp' | 'tcp'): Promise<{ sent: number; lost: number }> {
  const questions = sandbox.write('questions', 'www.example.test A\n')
  const args = ['-s', '127.0.0.1', '-p', String(port), '-d', questions, '-l', String(seconds)]
  const { stdout } = await promisify(execFile)('dnsperf', [
    ...args,
    '-Q',
    '3000',
    '-c',
    '8',
    '-t',
    '2',
    '-m',
    transport,
  ])
  const read = (name: string) => Number(new RegExp(`Queries ${name}: +(\\d+)`, 'u').exec(stdout)?.[1] ?? -1)
  return { sent: read('sent'), lost: read('lost') }
}

describe('a Corefile with reload', () => {
  test('is followed when it is edited, replaced, or swapped by Kubernetes', async () => {
    sandbox.write('conf/..1/Corefile', corefile('reload 2s', 'nsid one'))
    symlinkSync('..1', sandbox.path('conf/..data'))
    symlinkSync('..data/Corefile', sandbox.path('conf/Corefile'))
    const server = await sandbox.serve('-conf', sandbox.path('conf/Corefile'))
    sandbox.write('conf/..2/Corefile', corefile('reload 2s', 'forward corp.example 127.0.0.1:1'))
    symlinkSync('..2', sandbox.path('conf/..next'))
    renameSync(sandbox.path('conf/..next'), sandbox.path('conf/..data'))
    await server.logged(/Reloaded/u)
    await untilAnswer(port, 'x.corp.example.', 'SERVFAIL')
    sandbox.write('conf/Corefile', corefile('reload 2s'))
    await untilAnswer(port, 'x.corp.example.', 'REFUSED')
    renameSync(
      sandbox.write('conf/new', `.:${port} {\n bind 127.0.0.1\n reload 2s\n}\n`),
      sandbox.path('conf/Corefile'),
    )
    await untilAnswer(port, 'www.example.test.', 'REFUSED')
  })

  test('is followed in what it imports, by name and by pattern', async () => {
    const forward = 'forward corp.example 127.0.0.1:1'
    sandbox.write('more/a.conf', '')
    sandbox.write('common', 'reload 3600s')
    await sandbox.serve('-conf', sandbox.write('Corefile', corefile('import common', 'import more/*.conf')))
    expect(await brief(port, 'x.corp.example.')).toBe('REFUSED')
    sandbox.write('common', `reload 3600s\n${forward}`)
    await untilAnswer(port, 'x.corp.example.', 'SERVFAIL')
    sandbox.write('common', 'reload 3600s')
    await untilAnswer(port, 'x.corp.example.', 'REFUSED')
    sandbox.write('more/b.conf', forward)
    await untilAnswer(port, 'x.corp.example.', 'SERVFAIL')
    rmSync(sandbox.path('more/b.conf'))
    await untilAnswer(port, 'x.corp.example.', 'REFUSED')
  })

  test('that is broken leaves the old one in service and says what is wrong where', async () => {
    const file = sandbox.write('Corefile', corefile('reload 2s'))
    const server = await sandbox.serve('-conf', file)
    sandbox.write('Corefile', corefile('reload 2s', 'forwrad . 192.0.2.1'))
    await server.logged(/\[ERROR\] Cannot reload, the previous configuration stays in service: .*Corefile:7.*forwrad/u)
    expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
    sandbox.write('Corefile', corefile('reload 2s', 'forward corp.example 127.0.0.1:1'))
    await untilAnswer(port, 'x.corp.example.', 'SERVFAIL')
  })

  test('that is broken is reported by status, with place and message, until a reload succeeds', async () => {
    const health = await freePort()
    const more = ['reload 2s', `health 127.0.0.1:${health}`]
    const server = await sandbox.serve('-conf', sandbox.write('Corefile', corefile(...more)))
    const status = (...flags: readonly string[]) => holdfast(['status', '--url', `127.0.0.1:${health}`, ...flags])
    expect(await status()).toMatchObject({ code: 0 })
    const file = sandbox.write('Corefile', corefile(...more, 'forwrad . 192.0.2.1', 'cahce'))
    await server.logged(/Cannot reload/u)
    const { code, stdout } = await status()
    expect(code).toBe(1)
    expect(stdout).toMatch(/The configuration was refused \d+ s ago; the one before it stays in service:/u)
    expect(stdout).toContain(`  Cannot load ${file}:8:2: `)
    const { configuration } = JSON.parse((await status('--json')).stdout) as ServerStatus
    expect(configuration).toMatchObject({
      ...{ state: 'refused', errorCount: 2 },
      errors: [8, 9].map((line) => ({ code: 'CorefileInvalid', place: { file, line, column: 2 } })),
    })
    sandbox.write('Corefile', corefile(...more))
    await server.logged(/Reloaded the configuration/u)
    expect(await status()).toMatchObject({ code: 0, stdout: expect.not.stringContaining('refused') })
  })

  test('that asks for an address which cannot be had leaves the old one in service', async () => {
    const file = sandbox.write('Corefile', corefile('reload 2s'))
    const server = await sandbox.serve('-conf', file)
    sandbox.write('Corefile', corefile('reload 2s').replace('bind 127.0.0.1', 'bind 127.0.0.1 192.0.2.1'))
    await server.logged(/Cannot reload, .*"192\.0\.2\.1:\d+" \(TCP\): this host does not have that address/u)
    for (const exchange of [exchangeUdp, exchangeTcp]) {
      const [answer] = await exchange(port, [question('www.example.test.')])
      expect(answer && briefly(decoded(answer))).toBe('192.0.2.1')
    }
  })
})

describe('SIGHUP', () => {
  test.each([[[]], [['--plain-udp']]])('goes from one address to all of them and back (%j)', async (more) => {
    const server = await sandbox.serve('-conf', sandbox.write('Corefile', corefile()), ...more)
    for (const [round, text] of [corefile().replace('bind 127.0.0.1', ''), corefile()].entries()) {
      sandbox.write('Corefile', text)
      server.kill('SIGHUP')
      await until('a reload', () => server.output.split('Reloaded the configuration').length > round + 1)
      for (const exchange of [exchangeUdp, exchangeTcp]) {
        const [answer] = await exchange(port, [question('www.example.test.')])
        expect(answer && briefly(decoded(answer))).toBe('192.0.2.1')
      }
    }
  })

  test.each([
    ['udp', []],
    ['tcp', []],
    ['udp', ['--plain-udp']],
  ] as const)('reloads under load without losing a query (%s %j)', async (transport, more) => {
    const server = await sandbox.serve('-conf', sandbox.write('Corefile', corefile()), ...more)
    const load = perf(3, transport)
    for (let reload = 1; reload <= 4; reload++) {
      server.kill('SIGHUP')
      await until(`reload ${reload}`, () => server.output.split('Reloaded the configuration').length > reload)
    }
    const { sent, lost } = await load
    expect(sent).toBeGreaterThan(1000)
    expect(lost).toBe(0)
  })

  test('keeps an open TCP connection, which gets the new configuration', async () => {
    const server = await sandbox.serve('-conf', sandbox.write('Corefile', corefile()))
    const socket = connect(port, '127.0.0.1')
    socket.write(frame(question('x.corp.example.')))
    expect((await once(socket, 'data'))[0][5]).toBe(5)
    sandbox.write('Corefile', corefile('forward corp.example 127.0.0.1:1'))
    server.kill('SIGHUP')
    await server.logged(/Reloaded/u)
    socket.write(frame(question('x.corp.example.')))
    expect((await once(socket, 'data'))[0][5]).toBe(2)
    socket.destroy()
  })

  test('before the zones are loaded does no harm', async () => {
    const server = sandbox.spawn(['dns', '-conf', sandbox.write('Corefile', corefile())])
    await server.logged(/Zone example\.test/u)
    server.kill('SIGHUP')
    await server.logged(/Listening on[^]*Reloaded/u)
    expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  })
})

describe('queries that wait for an upstream', () => {
  let upstream: FaultServer
  let waiting: Received[]
  beforeEach(async () => {
    waiting = []
    upstream = await FaultServer.start((received) => void waiting.push(received))
    sandbox.write('Corefile', corefile(`forward corp.example 127.0.0.1:${upstream.port}`))
  })
  afterEach(() => upstream.stop())

  function answerAll(): void {
    for (const { query, send } of waiting) send(address(query, '198.51.100.1'))
  }

  test.each([
    ['SIGHUP', 'udp', []],
    ['SIGHUP', 'tcp', []],
    ['SIGHUP', 'udp', ['--plain-udp']],
    ['SIGTERM', 'udp', []],
    ['SIGTERM', 'tcp', []],
    ['SIGTERM', 'udp', ['--plain-udp']],
  ] as const)('are answered in spite of %s (%s %j)', async (signal, transport, more) => {
    const exchange = transport === 'udp' ? exchangeUdp : exchangeTcp
    for (let round = 1; ; round++) {
      waiting = []
      const server = await sandbox.serve('-conf', sandbox.path('Corefile'), ...more)
      const begun = performance.now()
      const asked = exchange(port, [question(`a${round}.corp.example.`), question(`b${round}.corp.example.`)], {
        timeoutMs: 60_000,
        attempts: 1,
      })
      await until('both queries upstream', () => waiting.length >= 2)
      server.kill(signal)
      await server.logged(signal === 'SIGHUP' ? /Reloaded/u : /Stopping on SIGTERM/u)
      answerAll()
      const answers = (await asked).map((answer) => answer && briefly(decoded(answer)))
      // On a very busy machine the reload may take longer than a query may wait: that shows nothing.
      const isInTime = performance.now() - begun < 4000
      if (isInTime) expect(answers).toEqual(['198.51.100.1', '198.51.100.1'])
      if (signal === 'SIGTERM') expect(await server.ended()).toBe(0)
      else await server.end()
      if (isInTime) break
    }
  })

  test('hold up the end until they are answered, and no longer after a second signal', async () => {
    const server = await sandbox.serve('-conf', sandbox.path('Corefile'))
    const client = createSocket('udp4')
    client.send(question('a.corp.example.'), port, '127.0.0.1')
    await until('the query upstream', () => waiting.length === 1)
    server.kill('SIGTERM')
    await server.logged(/Stopping on SIGTERM/u)
    const asked = waiting.length
    server.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
    // A server that waited would have asked the upstream again and again.
    expect(waiting.length - asked).toBeLessThan(2)
    client.close()
  })
})

describe('SIGTERM', () => {
  const records = Array.from({ length: 1_000_000 }, (_, i) => `h${i} A 192.0.2.1`)

  test('while zones are loaded for the first time does not wait for them', async () => {
    sandbox.write('zones/db.large.test', zoneText(records))
    const server = sandbox.spawn(['dns', '-conf', sandbox.write('Corefile', corefile())])
    await server.logged(/Zone example\.test/u)
    server.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
    expect(server.output).not.toContain('Zone large.test.')
    expect(server.output).not.toContain('ERROR')
  })

  test('while a reload loads its zones does not wait for them', async () => {
    const server = await sandbox.serve('-conf', sandbox.write('Corefile', corefile()))
    const before = server.output.length
    sandbox.write('large/db.large.test', zoneText(records))
    const file = `file ${sandbox.path('zones/db.example.test')} example.test`
    sandbox.write('Corefile', corefile(file).replace(sandbox.path('zones'), sandbox.path('large')))
    server.kill('SIGHUP')
    await server.logged(/Zone example\.test/u, before)
    server.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
    expect(server.output).not.toContain('Zone large.test.')
    expect(server.output).not.toContain('ERROR')
  })

  test('answers what was sent before, ends idle connections, and exits with 0', async () => {
    const server = await sandbox.serve('-conf', sandbox.write('Corefile', corefile()))
    const idle = connect(port, '127.0.0.1')
    idle.write(frame(question('www.example.test.')))
    await once(idle, 'data')
    const udp = createSocket('udp4')
    let answered = 0
    udp.on('message', () => answered++)
    const packet = question('www.example.test.')
    const sent = Array.from(
      { length: 200 },
      () => new Promise((resolve) => udp.send(packet, port, '127.0.0.1', resolve)),
    )
    await Promise.all(sent)
    idle.write(frame(question('www.example.test.')))
    server.kill('SIGTERM')
    const [last] = await once(idle, 'data')
    expect(last).toHaveLength(2 + 34 + 16)
    await until('every answer', () => answered === 200)
    udp.close()
    expect(await server.ended()).toBe(0)
  })

  test('waits out the lameduck time, in which /ready says no, and a second one ends it at once', async () => {
    const ready = await freePort()
    const health = await freePort()
    const file = sandbox.write(
      'Corefile',
      corefile(`ready 127.0.0.1:${ready}`, `health 127.0.0.1:${health} {\n lameduck 60s\n}`),
    )
    const server = await sandbox.serve('-conf', file)
    expect((await fetch(`http://127.0.0.1:${ready}/ready`)).status).toBe(200)
    server.kill('SIGTERM')
    await until('not ready', async () => (await fetch(`http://127.0.0.1:${ready}/ready`)).status === 503)
    expect((await fetch(`http://127.0.0.1:${health}/health`)).status).toBe(200)
    expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
    server.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
  })
})
