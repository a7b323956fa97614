// What clean clients get while others flood the server, on the loopback and for a few seconds each: `npm run flood`.
// `-- --only NAME` runs one scenario, `--rate N` changes the questions a second, `--seconds N` how long it takes,
// `--program PATH` measures another build's bin/holdfast.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { address, FaultServer } from '../support/fault-server.ts'
import { zoneText } from '../support/holdfast-process.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'
import { askTcp, askUdp, cleanClient, type Experience } from './clean-client.ts'
import type { HttpFlood } from './http-flood.ts'
import type { TcpFlood } from './tcp-flood.ts'
import type { UdpFlood } from './udp-flood.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rate: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '10' },
    program: { type: 'string', default: join(import.meta.dirname, '../../bin/holdfast') },
  },
})
const rate = Number(values.rate)
const seconds = Number(values.seconds)
const ZONES = 3000

interface Server {
  readonly port: number
  readonly http: number
}

const flooders = (count: number): string[] => Array.from({ length: count }, (_, i) => `127.0.1.${i + 1}`)
const udp = (port: number, more: Pick<UdpFlood, 'from' | 'name'>): UdpFlood => ({ port, rate, seconds, ...more })
const tcp = (port: number, dribble: boolean): TcpFlood => ({
  ...{ port, connections: 5000, seconds, from: flooders(25), name: 'here.zone.test.', dribble, everyMs: 4000 },
})
const page = (port: number, path: string): HttpFlood => ({ port, path, connections: 40, seconds })

/** Each floods in a thread of its own. */
const SCENARIOS: Readonly<Record<string, (server: Server) => readonly [string, UdpFlood | TcpFlood | HttpFlood]>> = {
  'one question': ({ port }) => ['udp-flood', udp(port, { from: flooders(1), name: 'one.silent.test.' })],
  'random names': ({ port }) => ['udp-flood', udp(port, { from: flooders(1), name: '*.silent.test.' })],
  'random names from 25 addresses': ({ port }) => [
    'udp-flood',
    udp(port, { from: flooders(25), name: '*.silent.test.' }),
  ],
  '5000 connections that ask': ({ port }) => ['tcp-flood', tcp(port, false)],
  '5000 connections that dribble': ({ port }) => ['tcp-flood', tcp(port, true)],
  '/status asked by 40 connections': ({ http }) => ['http-flood', page(http, '/status')],
  '/metrics asked by 40 connections': ({ http }) => ['http-flood', page(http, '/metrics')],
}

async function withServer<T>(run: (server: Server) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-flood-'))
  const good = await FaultServer.start(({ query, send }) => send(address(query, '192.0.2.1', 3600)))
  const silent = await FaultServer.start(() => undefined)
  const [port, http] = [await freePort(), await freePort()]
  writeFileSync(join(directory, 'db.zone'), zoneText(['here A 192.0.2.2']))
  const many = Array.from({ length: ZONES }, (_, i) => `z${i}.test`).join(' ')
  writeFileSync(
    join(directory, 'Corefile'),
    `.:${port} {
  bind 127.0.0.1
  file db.zone zone.test ${many}
  forward silent.test 127.0.0.1:${silent.port} {
    max_fails 0
  }
  forward . 127.0.0.1:${good.port}
  cache 3600
  errors
  health 127.0.0.1:${http}
  prometheus 127.0.0.1:${http}
}
`,
  )
  const child = spawn(values.program, ['dns', '-conf', 'Corefile'], { cwd: directory, stdio: 'pipe' })
  let lines = 0
  child.stdout.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 10) lines++
  })
  child.stderr.resume()
  try {
    await until('an answer', () => askUdp(port, 'here.zone.test.'), 60_000)
    await until('a cached answer', () => askUdp(port, 'cached.test.'), 60_000)
    const before = lines
    const result = await run({ port, http })
    process.stdout.write(`  ${lines - before} log lines\n`)
    return result
  } finally {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    await good.stop()
    await silent.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function scenario(name: string): Promise<void> {
  process.stdout.write(`${name}\n`)
  await withServer(async (server) => {
    const [file, flood] = SCENARIOS[name](server)
    const abort = new AbortController()
    const { port } = server
    const clients: Record<string, Promise<Experience>> = {
      'zone, UDP': cleanClient(() => askUdp(port, 'here.zone.test.'), 50, abort.signal),
      'cached, UDP': cleanClient(() => askUdp(port, 'cached.test.'), 50, abort.signal),
      'forwarded, UDP': cleanClient(() => askUdp(port, `n${Math.random()}.test.`), 50, abort.signal),
      'zone, TCP': cleanClient(() => askTcp(port, 'here.zone.test.'), 50, abort.signal),
      'cached, TCP': cleanClient(() => askTcp(port, 'cached.test.'), 50, abort.signal),
    }
    const worker = new Worker(new URL(`${file}.ts`, import.meta.url), { workerData: flood })
    const [sent] = (await once(worker, 'message')) as [number]
    abort.abort()
    for (const [client, experience] of Object.entries(clients)) {
      const { asked, lost, p99Ms, worstMs } = await experience
      process.stdout.write(`  ${client.padEnd(15)} ${lost} of ${asked} lost, p99 ${p99Ms} ms, worst ${worstMs} ms\n`)
    }
    process.stdout.write(`  ${sent} sent or opened\n`)
  })
}

for (const name of Object.keys(SCENARIOS)) if (values.only === undefined || values.only === name) await scenario(name)
process.exit(0)
