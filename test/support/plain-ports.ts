// Whether a port gives service without TLS: it is spoken to as a client without TLS would, and what it says is kept.

import { connect } from 'node:net'

const TIMEOUT_MS = 3000

/** The first bytes of the answer, or nothing when it closes the connection or keeps silent. */
export function speakPlain(address: string, port: number, message: Uint8Array | string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect({ host: address, port, timeout: TIMEOUT_MS })
  socket.on('connect', () => socket.write(message))
  socket.on('data', (bytes) => resolve(bytes.toString('latin1')))
  for (const end of ['timeout', 'error', 'close']) socket.on(end, () => resolve(''))
  return promise.finally(() => socket.destroy())
}

export const HTTP_REQUEST = 'GET /version HTTP/1.1\r\nHost: lab\r\n\r\n'

/** PostgreSQL's first message of a client without TLS. */
export const POSTGRES_STARTUP: Uint8Array = (() => {
  const body = Buffer.from('\0\x03\0\0user\0postgres\0database\0postgres\0\0', 'latin1')
  const head = Buffer.alloc(4)
  head.writeUInt32BE(4 + body.length)
  return Buffer.concat([head, body])
})()
