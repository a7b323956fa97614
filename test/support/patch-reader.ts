// A thread that asks for one alias over and over while another thread changes the zone, and counts answers that are
// no state the zone was ever in: `alias` points at `t<n>`, which has 10.x.y.z with the same number, and nothing else
// of that kind exists.

import { parentPort, workerData } from 'node:worker_threads'
import { decodeMessage } from '../../src/dns/message.ts'
import { formatName } from '../../src/dns/name.ts'
import { TYPE } from '../../src/dns/types.ts'
import { answer } from '../../src/zone/answer.ts'
import { EdnsContext } from '../../src/zone/edns.ts'
import { Control } from '../../src/zone/epoch.ts'
import { Query } from '../../src/zone/query.ts'
import { question } from './fault-server.ts'
import { PLAIN_VIEW } from './local-answer.ts'

interface ReaderData {
  readonly arena: SharedArrayBuffer
  readonly control: SharedArrayBuffer
  readonly inOrder: boolean
}

export interface ReaderResult {
  readonly answers: number
  /** How many different states were seen. */
  readonly states: number
  readonly wrong: readonly string[]
}

const data = workerData as ReaderData
const control = new Control(data.control)
const query = new Query(data.inOrder)
query.attach(data.arena)
const edns = new EdnsContext(new Uint8Array(16), 100)
const asked = question('alias.example.', TYPE.A)
const packet = new Uint8Array(4096)
const wrong: string[] = []
const states = new Set<number>()
let answers = 0
parentPort?.postMessage('asking')
while (!control.stopped && wrong.length < 10) {
  packet.set(asked)
  control.enter(0)
  query.open(packet, 0, asked.length, packet.length, false)
  const length = answer(query, [PLAIN_VIEW], edns)
  control.leave(0)
  answers++
  const message = decodeMessage(packet.slice(0, length))
  if (typeof message === 'string') {
    wrong.push(message)
    continue
  }
  const [alias, address] = message.answers
  const target = alias === undefined ? '' : formatName(alias.rdata)
  const number = Number(/^t(\d+)\.example\.$/u.exec(target)?.[1] ?? -1)
  const [, high, middle, low] = address?.rdata ?? []
  states.add(number)
  if (message.answers.length !== 2 || number !== ((high << 16) | (middle << 8) | low))
    wrong.push(`rcode ${message.rcode}, alias ${target}, address 10.${high}.${middle}.${low}`)
}
parentPort?.postMessage({ answers, states: states.size, wrong } satisfies ReaderResult)
