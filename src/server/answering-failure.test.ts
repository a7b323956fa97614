// A defect in answering costs the query it happened to, and neither the process nor the memory of later zones.

import { once } from 'node:events'
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { MessageChannel } from 'node:worker_threads'
import { beforeEach, describe, expect, test } from 'vitest'
import { freePort } from '../../test/support/ports.ts'
import { until } from '../../test/support/until.ts'
import { Control } from '../zone/epoch.ts'
import type { Answering } from './answering.ts'
import { ArenaReader } from './arena-reader.ts'
import { Responder } from './responder.ts'
import { TcpConnections } from './tcp-connections.ts'
import { TcpListener } from './tcp.ts'
import { DgramListener } from './udp/dgram-listener.ts'

class FailingResponder extends Responder {
  override respond(): number {
    throw new Error('answering failed')
  }
}

const QUERY = Uint8Array.from([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1])
let control: Control
let failures: string[]
let answering: Answering

beforeEach(() => {
  control = Control.create(1)
  failures = []
  const responder = new FailingResponder({
    cookieSecret: new Uint8Array(16),
    tcpIdleMs: 1000,
    stats: [],
    logs: [],
    local: '127.0.0.1',
  })
  answering = {
    views: [],
    responder,
    arena: new ArenaReader(control, 0, new MessageChannel().port1, responder.query),
    handOver: () => Promise.resolve(undefined),
    answered: () => undefined,
    failed: (thrown) => failures.push(String(thrown)),
  }
})

function nobodyReads(): boolean {
  return control.advance() === control.oldestInUse()
}

describe('a query whose answering fails', () => {
  test('by UDP is dropped, and the next one is received', async () => {
    const port = await freePort()
    const listener = new DgramListener(answering, { host: '127.0.0.1', port, scope: 0, blocks: [] })
    await listener.listen(true)
    const client = createSocket('udp4')
    client.send(QUERY, port, '127.0.0.1')
    client.send(QUERY, port, '127.0.0.1')
    await until('both failures', () => failures.length === 2)
    expect(failures[0]).toContain('answering failed')
    expect(nobodyReads()).toBe(true)
    client.close()
    await listener.close()
  })

  test('by TCP ends its connection, and the next one is accepted', async () => {
    const port = await freePort()
    const listener = new TcpListener(answering, new TcpConnections())
    await listener.listen({ host: '127.0.0.1', port, scope: 0, blocks: [] })
    for (const round of [1, 2]) {
      const client = connect(port, '127.0.0.1')
      client.resume().write(Buffer.concat([Uint8Array.of(0, QUERY.length), QUERY]))
      await once(client, 'close')
      expect(failures).toHaveLength(round)
    }
    expect(nobodyReads()).toBe(true)
    await listener.close()
  })
})
