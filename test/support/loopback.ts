// Loopback addresses of which no other test uses one meanwhile, for servers that need their usual ports.

import { randomInt } from 'node:crypto'
import { reserve } from './reservation.ts'

const [LOWEST, LIMIT] = [100, 240]
const ATTEMPTS = 1000

/** The first two numbers of a network of its own: `127.104`. */
export function loopbackNetwork(): string {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const second = randomInt(LOWEST, LIMIT)
    if (reserve(`network-${second}`)) return `127.${second}`
  }
  throw new Error('Cannot find a free network in 127.0.0.0/8')
}
