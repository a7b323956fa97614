// One client against the others, on the real server: however much of it waits for an upstream that does not answer, other
// clients get cached and forwarded answers.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { address, FaultServer, question } from '../support/fault-server.ts'
import { metric, Sandbox } from '../support/holdfast-process.ts'
import { brief } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

const sandbox = new Sandbox()
let good: FaultServer
let silent: FaultServer
let port: number
let httpPort: number
beforeAll(async () => {
  good = await FaultServer.start(({ query, send }) => send(address(query, '192.0.2.1', 3600)))
  silent = await FaultServer.start(() => undefined)
  port = await freePort()
  httpPort = await freePort()
  sandbox.write(
    'Corefile',
    `.:${port} {
  bind 127.0.0.1
  forward silent.test 127.0.0.1:${silent.port} {
    max_fails 0
  }
  forward . 127.0.0.1:${good.port}
  cache 3600
  prometheus 127.0.0.1:${httpPort}
}
`,
  )
  await sandbox.serve('-conf', 'Corefile')
})
afterAll(async () => {
  await sandbox.close()
  await good.stop()
  await silent.stop()
})

test('a client that repeats one question takes no answers from others', async () => {
  expect(await brief(port, 'cached.test.')).toBe('192.0.2.1')
  const flooder = createSocket({ type: 'udp4' })
  flooder.bind(0, '127.0.0.99')
  await once(flooder, 'listening')
  const packet = question('one.silent.test.')
  // The server has as much of it as it takes when it begins to drop.
  await until(
    'dropped queries',
    async () => {
      for (let i = 0; i < 2000; i++) {
        flooder.send(packet, port, '127.0.0.1')
        if (i % 100 === 0) await nextTurn()
      }
      return ((await metric(httpPort, 'holdfast_handover_dropped_total')) ?? 0) > 0
    },
    60_000,
  )
  expect(await brief(port, 'cached.test.')).toBe('192.0.2.1')
  expect(await brief(port, 'new.test.')).toBe('192.0.2.1')
  flooder.close()
})
