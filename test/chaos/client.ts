// Clients that never stop asking one server, over UDP and over TCP, and check every answer.

import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../fuzz/random.ts'
import { exchangeTcp, exchangeUdp } from '../support/dns-client.ts'
import { decoded, question as encodeQuestion } from '../support/fault-server.ts'
import type { Subject } from './subject.ts'

/** Questions at a time, and the pause between. A lost question is asked once more. */
const LOADS = {
  udp: { questions: 16, pauseMs: 60, exchange: exchangeUdp, options: { timeoutMs: 2000, attempts: 2 } },
  tcp: { questions: 8, pauseMs: 120, exchange: exchangeTcp, options: { timeoutMs: 2000, attempts: 2 } },
} as const

export async function askForEver(
  subject: Subject,
  transport: keyof typeof LOADS,
  seed: number,
  signal: AbortSignal,
): Promise<void> {
  const random = new Random(seed, transport === 'udp' ? 0 : 1)
  const { questions, pauseMs, exchange, options } = LOADS[transport]
  while (!signal.aborted) {
    await sleep(pauseMs)
    if (!subject.isUp) continue
    const { generation } = subject
    const asked = Array.from({ length: questions }, () => subject.ask(random))
    const packets = asked.map(({ question: { name, type } }) => encodeQuestion(name, type))
    // A connection that is refused gives no answers.
    const answers = await exchange(subject.port, packets, options).catch(() => asked.map(() => undefined))
    if (subject.generation !== generation) continue
    for (const [i, answer] of answers.entries()) {
      if (answer === undefined) subject.noAnswer(asked[i], transport)
      else subject.check(asked[i], decoded(answer))
    }
  }
}
