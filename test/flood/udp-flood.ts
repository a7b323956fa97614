// A thread that sends questions over UDP at a steady rate for a while, from several addresses of the loopback, and reads
// no answers. It reports how many it sent.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { question } from '../support/fault-server.ts'

export interface UdpFlood {
  readonly port: number
  readonly rate: number
  readonly seconds: number
  /** Addresses to send from. */
  readonly from: readonly string[]
  /** Asked again and again; `*` becomes a new label each time. */
  readonly name: string
}

const TICK_MS = 5

async function flood({ port, rate, seconds, from, name }: UdpFlood): Promise<number> {
  const sockets = await Promise.all(
    from.map(async (address) => {
      const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 })
      socket.on('error', () => undefined)
      socket.bind(0, address)
      await once(socket, 'listening')
      return socket
    }),
  )
  const start = performance.now()
  let sent = 0
  for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - start) {
    for (; sent < (rate * elapsed) / 1000; sent++) {
      const packet = question(name.replace('*', `x${sent}`), 1, { id: sent & 0xffff })
      sockets[sent % sockets.length].send(packet, port, '127.0.0.1')
    }
    await sleep(TICK_MS)
  }
  for (const socket of sockets) socket.close()
  return sent
}

parentPort?.postMessage(await flood(workerData as UdpFlood))
