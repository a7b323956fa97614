// Sends raw queries to one server and returns raw answers: many at a time over one UDP socket or one pipelined TCP
// connection, matched by message ID. Lost datagrams are sent again; a query the server never answers is undefined.
// How long a server takes depends on the machine: a datagram counts as unanswered only when one that was sent later is answered.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type Answer = Uint8Array | undefined

export interface ExchangeOptions {
  /** How many queries may be under way at once. */
  readonly window?: number
  /** Counts as unanswered after this time, whatever the server is doing. */
  readonly timeoutMs?: number
  readonly attempts?: number
}

/** Any server answers this one, if only with REFUSED: the address of `.invalid`. */
const CONTROL = Uint8Array.from([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 7, ...Buffer.from('invalid'), 0, 0, 1, 0, 1])
const CONTROL_ID = 0xffff
const CONTROL_EVERY_MS = 500
const LONGEST_SILENCE_MS = 60_000

/** One query under way. */
interface Pending {
  readonly resolve: (answer: Answer) => void
  readonly timer: NodeJS.Timeout
}

/** Answers in the order of the queries. The ID in each query is replaced, and each answer carries the replacement. */
export async function exchangeUdp(
  port: number,
  queries: readonly Uint8Array[],
  options: ExchangeOptions = {},
): Promise<Answer[]> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 })
  socket.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {
    // ECONNREFUSED of a server that is not there yet: the query's own timeout deals with it.
  })
  const pending = new Map<number, Pending>()
  socket.on('message', (bytes) => settle(pending, bytes))
  const { timeoutMs = 700, attempts = 4 } = options
  let isOpen = true
  const send = (bytes: Uint8Array) => {
    if (isOpen) socket.send(bytes)
  }
  let control: Promise<void> | undefined
  const heard = async () => {
    control ??= untilHeard(pending, send).finally(() => {
      control = undefined
    })
    await control
  }
  const answers = await inWindow(queries, options.window ?? 64, async (query, index) => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const answer = await ask(
        pending,
        query,
        index % CONTROL_ID,
        timeoutMs,
        send,
        options.timeoutMs === undefined ? heard : undefined,
      )
      if (answer !== undefined) return answer
    }
    return undefined
  })
  isOpen = false
  socket.close()
  return answers
}

export async function exchangeTcp(
  port: number,
  queries: readonly Uint8Array[],
  options: ExchangeOptions = {},
): Promise<Answer[]> {
  const pending = new Map<number, Pending>()
  let socket: Socket | undefined
  const connected = async (): Promise<Socket> => {
    if (socket?.writable) return socket
    const fresh = connect({ port, host: '127.0.0.1', noDelay: true })
    socket = fresh
    let received: Uint8Array = new Uint8Array(0)
    fresh.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 2) {
        const end = 2 + ((received[0] << 8) | received[1])
        if (received.length < end) break
        settle(pending, received.subarray(2, end))
        received = received.subarray(end)
      }
    })
    fresh.on('error', () => fresh.destroy())
    await once(fresh, 'connect')
    return fresh
  }
  const { timeoutMs = 2000, attempts = 3 } = options
  const answers = await inWindow(queries, options.window ?? 16, async (query, index) => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const connection = await connected()
      const answer = await ask(pending, query, index & 0xffff, timeoutMs, (bytes) => {
        connection.write(Buffer.concat([Uint8Array.of(bytes.length >> 8, bytes.length & 255), bytes]))
      })
      if (answer !== undefined) return answer
    }
    return undefined
  })
  socket?.destroy()
  return answers
}

/** `giveUp`: what has to happen after the time before the query counts as unanswered. */
function ask(
  pending: Map<number, Pending>,
  query: Uint8Array,
  id: number,
  timeoutMs: number,
  send: (bytes: Uint8Array) => void,
  giveUp?: () => Promise<void>,
): Promise<Answer> {
  return new Promise((resolve) => {
    const bytes = query.slice()
    if (bytes.length >= 2) new DataView(bytes.buffer).setUint16(0, id)
    const end = () => {
      pending.delete(id)
      resolve(undefined)
    }
    const timer = setTimeout(() => void (giveUp === undefined ? end() : giveUp().then(end)), timeoutMs)
    pending.set(id, { resolve, timer })
    send(bytes)
  })
}

/** Resolves when the server has answered a query that is sent now, and so had time for those before it. */
async function untilHeard(pending: Map<number, Pending>, send: (bytes: Uint8Array) => void): Promise<void> {
  const deadline = Date.now() + LONGEST_SILENCE_MS
  while (Date.now() < deadline)
    if ((await ask(pending, CONTROL, CONTROL_ID, CONTROL_EVERY_MS, send)) !== undefined) return
}

function settle(pending: Map<number, Pending>, bytes: Uint8Array): void {
  if (bytes.length < 2) return
  const id = (bytes[0] << 8) | bytes[1]
  const found = pending.get(id)
  if (found === undefined) return
  pending.delete(id)
  clearTimeout(found.timer)
  found.resolve(new Uint8Array(bytes))
}

async function inWindow<In, Out>(
  items: readonly In[],
  window: number,
  run: (item: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = new Array(items.length)
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++
      results[index] = await run(items[index], index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(window, items.length) }, lane))
  return results
}
