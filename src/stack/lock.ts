// One command at a time may change a stack. The lock is a socket in Linux's abstract namespace, named after the directory:
// taking it is atomic, and the kernel gives it back however the process ends.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { HoldfastError } from '../lib/errors.ts'

export async function withLock<T>(directory: string, work: () => Promise<T>): Promise<T> {
  // An empty answer to whoever connects: there is nothing to be told.
  const server = createServer((socket) => socket.destroy())
  const name = createHash('sha256').update(directory).digest('hex')
  try {
    await once(server.listen(`\0holdfast-${name}`), 'listening')
  } catch (error) {
    throw new HoldfastError(
      'StackLocked',
      `Cannot change the stack in "${directory}": another command is changing it just now; wait for it to end`,
      { cause: error, retryable: true },
    )
  }
  try {
    return await work()
  } finally {
    server.close()
  }
}
