// What a name server answers: asked for random names all the time, and for all of them at the end.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Message } from '../../../src/dns/message.ts'
import { formatRdata } from '../../../src/dns/rdata/rdata.ts'
import { rcodeName, TYPE } from '../../../src/dns/types.ts'
import { Random } from '../../fuzz/random.ts'
import { exchangeUdp } from '../../support/dns-client.ts'
import { decoded, question } from '../../support/fault-server.ts'
import type { Output } from './output.ts'
import type { Program } from './program.ts'

const AT_ONCE = 16
const PAUSE_MS = 80
const EXCHANGE = { timeoutMs: 3000, attempts: 2 }

export class DnsOutput {
  readonly output: Output
  readonly program: Program
  readonly #port: number

  constructor(output: Output, program: Program, port: number) {
    this.output = output
    this.program = program
    this.#port = port
  }

  async askForEver(names: readonly string[], seed: number, signal: AbortSignal): Promise<void> {
    const random = new Random(seed)
    while (!signal.aborted) {
      await sleep(PAUSE_MS)
      if (!this.program.isUp) continue
      const { generation } = this.program
      const asked = Array.from({ length: AT_ONCE }, () => random.pick(names))
      const since = asked.map((name) => this.output.shown(name))
      const answers = await this.#ask(asked)
      if (this.program.generation !== generation) continue
      for (const [i, answer] of answers.entries()) {
        const instead = answer === undefined ? 'no answer' : rcodeName(answer.rcode)
        this.output.look(asked[i], addressesIn(answer), since[i], instead)
      }
    }
  }

  /** Addresses by name. */
  async read(names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const answers = await this.#ask(names)
    return new Map(names.map((name, i) => [name, addressesIn(answers[i])]))
  }

  async #ask(names: readonly string[]): Promise<(Message | undefined)[]> {
    const packets = names.map((name) => question(name, TYPE.A))
    const answers = await exchangeUdp(this.#port, packets, EXCHANGE)
    return answers.map((answer) => answer && decoded(answer))
  }
}

function addressesIn(answer: Message | undefined): string[] {
  const records = (answer?.answers ?? []).filter(({ type }) => type === TYPE.A)
  return records.map(({ type, rdata }) => formatRdata(type, rdata))
}
