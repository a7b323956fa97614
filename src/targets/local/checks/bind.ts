// Trying to listen somewhere, for a moment: the one way to know whether a service could.

import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import type { Port } from '../../../machine/machine.ts'

/** Sockets open at a time. */
const AT_ONCE = 128

export interface Place {
  readonly protocol: Port['protocol']
  readonly address: string
  /** 0: any that is free. */
  readonly port: number
}

/** For each place undefined, or the system's code for why not: `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`. */
export async function tryPlaces(places: readonly Place[]): Promise<readonly (string | undefined)[]> {
  const results: (string | undefined)[] = []
  for (let start = 0; start < places.length; start += AT_ONCE) {
    results.push(...(await Promise.all(places.slice(start, start + AT_ONCE).map(tryPlace))))
  }
  return results
}

function tryPlace({ protocol, address, port }: Place): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const onError = ({ code }: NodeJS.ErrnoException) => resolve(code)
  if (protocol === 'tcp') {
    const server = createServer().once('error', onError)
    server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  } else {
    const socket = createSocket('udp4')
    socket.once('error', (error) => {
      socket.close()
      onError(error)
    })
    socket.bind({ address, port, exclusive: true }, () => socket.close(() => resolve(undefined)))
  }
  return promise
}
