// What is in the zone file: read again and again; a file that was there and is not, or not whole, is a violation as well.

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Journal } from '../journal.ts'
import type { Output } from './output.ts'
import { VM_ZONE } from './world.ts'

const PAUSE_MS = 50

export class FileOutput {
  readonly output: Output
  readonly #path: string
  readonly #journal: Journal
  #text = ''
  #serial = 0

  constructor(output: Output, path: string, journal: Journal) {
    this.output = output
    this.#path = path
    this.#journal = journal
  }

  async readForEver(names: readonly string[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(PAUSE_MS)
      const text = this.#readText()
      if (text === this.#text) continue
      this.#checkSerial(text)
      this.#text = text
      for (const [name, addresses] of this.read(names)) this.output.look(name, addresses)
    }
  }

  read(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, string[]>(names.map((name) => [name, []]))
    for (const [, owner, address] of this.#readText().matchAll(/^(\S+) (?:\d+ )?IN A (\S+)$/gmu))
      found.get(`${owner}.${VM_ZONE}.`)?.push(address)
    return found
  }

  #readText(): string {
    try {
      return readFileSync(this.#path, 'utf8')
    } catch {
      return ''
    }
  }

  #checkSerial(text: string): void {
    const serial = Number(/ SOA .*\((\d+) /u.exec(text)?.[1] ?? -1)
    if (serial <= this.#serial && this.#text !== '')
      this.#journal.violation(`${this.output.name} has serial ${serial} after ${this.#serial}`)
    this.#serial = serial
  }
}
