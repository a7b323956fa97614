// One place where names show: a name server, the keys in etcd, a zone file. What it has shown of a name decides what it may
// show next: nothing older, and no nothing while the name has been there all the time.

import type { Journal } from '../journal.ts'
import type { History, Shown, Write } from './history.ts'

export class Output {
  readonly name: string
  /** How often something was looked at. */
  checked = 0
  readonly #history: History
  readonly #journal: Journal
  #shown = new Map<string, Map<string, Write>>()

  constructor(name: string, history: History, journal: Journal) {
    this.name = name
    this.#history = history
    this.#journal = journal
  }

  /** Of a name, before it is asked for. */
  shown(name: string): Shown {
    return new Map(this.#shown.get(name))
  }

  /** Everything, so that it can be gone back to. */
  memory(): ReadonlyMap<string, Shown> {
    return new Map(Array.from(this.#shown, ([name, shown]) => [name, new Map(shown)]))
  }

  /** Only this much has to be remembered. */
  forget(memory: ReadonlyMap<string, Shown>): void {
    this.#shown = new Map(Array.from(memory, ([name, shown]) => [name, new Map(shown)]))
  }

  /** `since`: what had been shown when the question was asked; `instead`: what there is when there are no addresses. */
  look(name: string, addresses: readonly string[], since: Shown = this.shown(name), instead = 'nothing'): void {
    this.checked++
    if (addresses.length === 0 && this.#history.isHeldSince(name, since))
      this.#violation(name, `${instead}, though it was there all the time; ${tell(since)} had been shown`)
    for (const address of addresses) this.#lookAt(name, address, since)
  }

  #lookAt(name: string, address: string, since: Shown): void {
    const write = this.#history.writeOf(address)
    if (write?.addresses.get(name) !== address) {
      this.#violation(name, `${address}, which was never written`)
      return
    }
    const before = since.get(write.object)
    if (before !== undefined && write.seq < before.seq)
      this.#violation(name, `${address} of ${tell([['', write]])}, after ${tell([['', before]])} had been shown`)
    const shown = this.#shown.get(name) ?? new Map<string, Write>()
    this.#shown.set(name, shown)
    if (write.seq > (shown.get(write.object)?.seq ?? 0)) shown.set(write.object, write)
  }

  #violation(name: string, what: string): void {
    this.#journal.violation(`${this.name} has for ${name}: ${what}`)
  }
}

function tell(writes: Iterable<readonly [string, Write]>): string {
  return Array.from(writes, ([, { object, seq }]) => `write ${seq} (${object})`).join(', ')
}
