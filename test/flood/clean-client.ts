// A client that behaves: one question at a time, at a steady pace, each given three seconds (time for a second SYN), none repeated.

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { exchangeUdp } from '../support/dns-client.ts'
import { frame, question } from '../support/fault-server.ts'

const PATIENCE_MS = 3000

export interface Experience {
  readonly asked: number
  readonly lost: number
  /** The longest that an answer took, and what 99 of 100 took at most, in milliseconds. */
  readonly worstMs: number
  readonly p99Ms: number
}

/** Asks until the signal. */
export async function cleanClient(
  ask: () => Promise<boolean>,
  everyMs: number,
  signal: AbortSignal,
): Promise<Experience> {
  const times: number[] = []
  let lost = 0
  while (!signal.aborted) {
    const start = performance.now()
    if (await ask()) times.push(performance.now() - start)
    else lost++
    await sleep(Math.max(0, everyMs - (performance.now() - start)))
  }
  times.sort((a, b) => a - b)
  const at = (part: number) => Math.round(times[Math.floor((times.length - 1) * part)] ?? 0)
  return { asked: times.length + lost, lost, worstMs: at(1), p99Ms: at(0.99) }
}

export async function askUdp(port: number, name: string): Promise<boolean> {
  const [answer] = await exchangeUdp(port, [question(name)], { attempts: 1, timeoutMs: PATIENCE_MS })
  return answer !== undefined && (answer[3] & 15) === 0
}

/** A connection of its own for one question. */
export function askTcp(port: number, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const end = (answered: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answered)
    }
    const timer = setTimeout(() => end(false), PATIENCE_MS)
    socket.on('connect', () => socket.write(frame(question(name))))
    socket.on('data', () => end(true))
    socket.on('error', () => end(false))
    socket.on('close', () => end(false))
  })
}
