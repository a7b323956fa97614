// A thread that keeps TCP connections open from several addresses of the loopback and opens those again that are closed.
// Each of them asks a question now and then, or only sends a single byte of one.

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { frame, question } from '../support/fault-server.ts'

export interface TcpFlood {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly from: readonly string[]
  readonly name: string
  /** Send a byte at a time instead of questions. */
  readonly dribble: boolean
  readonly everyMs: number
}

async function flood({ port, connections, seconds, from, name, dribble, everyMs }: TcpFlood): Promise<number> {
  const sockets = new Set<Socket>()
  let opened = 0
  const open = (index: number): void => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from[index % from.length] })
    opened++
    sockets.add(socket)
    const bytes = frame(question(name))
    let at = 0
    const speak = () => socket.write(dribble ? bytes.subarray(at, ++at) : bytes)
    const timer = setInterval(speak, everyMs)
    socket.on('connect', speak)
    socket.on('error', () => socket.destroy())
    socket.resume()
    socket.on('close', () => {
      clearInterval(timer)
      sockets.delete(socket)
      if (!ended) setTimeout(() => open(index), 500)
    })
  }
  let ended = false
  for (let i = 0; i < connections; i++) {
    open(i)
    if (i % 50 === 0) await sleep(1)
  }
  await sleep(seconds * 1000)
  ended = true
  for (const socket of sockets) socket.destroy()
  return opened
}

parentPort?.postMessage(await flood(workerData as TcpFlood))
