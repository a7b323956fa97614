// A loopback port that is free for UDP and TCP alike, and reserved for this process. It is below the range from which the
// kernel gives ports to connections: nobody gets it while its server is down, and no client can connect to itself.

import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { reserve } from './reservation.ts'

const [LOWEST, LIMIT] = [11_000, 32_000]
const ATTEMPTS = 1000

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(LOWEST, LIMIT)
    if (reserve(`port-${port}`) && (await isFree(port))) return port
  }
  throw new Error('Cannot find a port free for both UDP and TCP on 127.0.0.1')
}

async function isFree(port: number): Promise<boolean> {
  const tcp = createServer()
  const udp = createSocket('udp4')
  try {
    await Promise.all([
      once(tcp.listen(port, '127.0.0.1'), 'listening'),
      once(udp.bind(port, '127.0.0.1'), 'listening'),
    ])
    return true
  } catch {
    return false
  } finally {
    udp.close()
    if (tcp.listening) {
      tcp.close()
      await once(tcp, 'close')
    }
  }
}
