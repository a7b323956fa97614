// A loopback port that is free for UDP and TCP alike. Another process may take it before it is used; a server that
// then cannot bind fails to start, which its starter reports.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const tcp = createServer().listen(0, '127.0.0.1')
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket('udp4')
    const free = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false))
      udp.bind(port, '127.0.0.1', () => resolve(true))
    })
    udp.close()
    tcp.close()
    await once(tcp, 'close')
    if (free) return port
  }
  throw new Error('Cannot find a port free for both UDP and TCP on 127.0.0.1')
}
