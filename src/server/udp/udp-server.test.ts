import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { freePort } from '../../../test/support/ports.ts'
import { until } from '../../../test/support/until.ts'
import { loadLibc, type Libc } from '../../lib/libc.ts'
import { LogSink } from '../../lib/log-sink.ts'
import { Arena } from '../../zone/arena.ts'
import { Control } from '../../zone/epoch.ts'
import { block } from '../corefile/testing.ts'
import { HandoverGate } from '../handover-gate.ts'
import { allocateLogFlow, LogReceiver } from '../query-log/carrier.ts'
import { viewOf } from '../views.ts'
import { UdpServer } from './udp-server.ts'

const READER = 1
/** The name servers of the root. */
const QUERY = Uint8Array.from([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1])

function realLibc(): Libc {
  const libc = loadLibc(() => undefined)
  if (libc === undefined) throw new Error('batched UDP cannot be had here')
  return libc
}

/** One worker, no zones: everything is refused. */
function start(libc: Libc, ports: readonly number[], control: Control, onFailure: (message: string) => void) {
  const view = viewOf(block(''), 0, 0, { version: 'test', hostname: 'test' })
  const arena = new Arena(4096)
  const logFlow = allocateLogFlow()
  control.nextGeneration()
  return new UdpServer({
    libc,
    control,
    listeners: ports.map((port) => ({ host: '127.0.0.1', port, scope: 0, blocks: [0], views: [view] })),
    shares: [{ reader: READER, stats: [undefined], logFlow, logReceiver: new LogReceiver(logFlow, new LogSink(1)) }],
    common: { logs: [[]], cookieSecret: new Uint8Array(16), handoverGate: new HandoverGate().buffer },
    arenas: () => {
      const { port1, port2 } = new MessageChannel()
      port2.postMessage({ generation: 1, arena: arena.buffer })
      return port1
    },
    onHandover: () => Promise.resolve(undefined),
    onFailure,
  })
}

async function isServed(port: number): Promise<boolean> {
  const client = createSocket('udp4')
  client.send(QUERY, port, '127.0.0.1')
  const [answer] = await once(client, 'message')
  client.close()
  return (answer[3] & 15) === 5
}

test('a worker that fails is replaced, as soon as sockets can be had, and leaves nothing behind', async () => {
  const real = realLibc()
  const open = new Set<number>()
  let binds = 0
  // First both sockets are none, on which the worker fails; then the second cannot be bound; then all is well.
  const libc: Libc = {
    ...real,
    socket(...args) {
      const fd = binds < 2 ? openSync('/dev/null', 'r') : real.socket(...args)
      open.add(fd)
      return fd
    },
    bind(...args) {
      binds++
      if (binds <= 2) return 0
      return binds === 4 ? -1 : real.bind(...args)
    },
    close(fd) {
      open.delete(fd)
      return real.close(fd)
    },
  }
  const ports = [await freePort(), await freePort()]
  const control = Control.create(2)
  const failures: string[] = []
  control.enter(READER) // as if it had ended in the middle of a batch
  const server = start(libc, ports, control, (message) => failures.push(message))
  await until('the failure', () => failures.length > 0)
  expect(failures[0]).toMatch(/^UDP worker 1 failed \(recvmmsg failed/u)
  expect(control.advance()).toBe(control.oldestInUse())

  await until('another worker', () => server.workers === 1)
  expect(failures.slice(1)).toEqual([expect.stringMatching(/^Cannot replace UDP worker 1 yet: Cannot listen on/u)])
  expect(open.size).toBe(2)
  expect(await isServed(ports[1])).toBe(true)
  await server.stop()
  expect(open.size).toBe(0)
})

test('a worker that does not end when it should can be ended', async () => {
  class Unheard extends Control {
    override stop(): void {}
  }
  const port = await freePort()
  const server = start(realLibc(), [port], new Unheard(Control.create(2).buffer), () => undefined)
  expect(await isServed(port)).toBe(true)
  const stopped = server.stop()
  await server.terminate()
  await stopped
  expect(server.workers).toBe(0)
})
