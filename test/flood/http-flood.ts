// A thread with connections that ask for one page again and again, without waiting for answers.

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

export interface HttpFlood {
  readonly port: number
  readonly path: string
  readonly connections: number
  readonly seconds: number
}

async function flood({ port, path, connections, seconds }: HttpFlood): Promise<number> {
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(100)
  let opened = 0
  let ended = false
  const open = (): void => {
    const socket = connect({ port, host: '127.0.0.1' })
    opened++
    const timer = setInterval(() => socket.write(request), 100)
    socket.on('connect', () => socket.write(request))
    socket.on('error', () => socket.destroy())
    socket.resume()
    socket.on('close', () => {
      clearInterval(timer)
      if (!ended) setTimeout(open, 20)
    })
    setTimeout(() => socket.destroy(), seconds * 1000)
  }
  for (let i = 0; i < connections; i++) open()
  await sleep(seconds * 1000)
  ended = true
  return opened
}

parentPort?.postMessage(await flood(workerData as HttpFlood))
