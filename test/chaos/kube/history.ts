// All that was written to the API, in order, and what follows from it about each name. There is one writer, and it does one
// thing at a time, so only the last write may or may not have happened.
//
// Every write gives addresses that no other has: an answer tells which write of which object it comes from.

/** Objects of one kind are followed by one watch, which tells of their changes in order. */
export type Kind = 'ingress' | 'service' | 'vmi'

export interface Write {
  /** From 1, without gaps. */
  readonly seq: number
  readonly kind: Kind
  /** With its kind. */
  readonly object: string
  /** What its names stand for from then on; empty when it has none, or is gone. */
  readonly addresses: ReadonlyMap<string, string>
}

/** By object: the newest write of it that was seen in what a name stands for. */
export type Shown = ReadonlyMap<string, Write>

export class History {
  readonly #byAddress = new Map<string, Write>()
  readonly #byName = new Map<string, NameHistory>()
  /** The last one of each object. */
  readonly #objects = new Map<string, Write>()
  #seq = 0
  #lastAddress = 0

  /** Writes so far. */
  get count(): number {
    return this.#seq
  }

  /** That some object had at some time. */
  names(): Iterable<string> {
    return this.#byName.keys()
  }

  freshAddress(): string {
    const number = ++this.#lastAddress
    return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`
  }

  /** A write begins. */
  begin(kind: Kind, object: string, addresses: ReadonlyMap<string, string>): Write {
    const write: Write = { seq: ++this.#seq, kind, object, addresses }
    const before = this.#objects.get(object)?.addresses.keys() ?? []
    this.#objects.set(object, write)
    for (const address of addresses.values()) this.#byAddress.set(address, write)
    for (const name of new Set([...before, ...addresses.keys()])) {
      const history = this.#byName.get(name) ?? new NameHistory(name)
      this.#byName.set(name, history)
      history.add(write)
    }
    return write
  }

  writeOf(address: string): Write | undefined {
    return this.#byAddress.get(address)
  }

  /** What the name may stand for once everything is known: what any one kind wants of it. None: it must not be there. */
  wanted(name: string): readonly ReadonlySet<string>[] {
    return this.#byName.get(name)?.wanted() ?? []
  }

  /** Whether a name of which this was shown cannot be gone: since then, objects of one kind have had it at every moment. */
  isHeldSince(name: string, shown: Shown): boolean {
    return this.#byName.get(name)?.isHeldSince(shown) ?? false
  }
}

/** Writes of objects that had the name before or have it after. */
class NameHistory {
  readonly #name: string
  readonly #kinds = new Map<Kind, Write[]>()

  constructor(name: string) {
    this.#name = name
  }

  add(write: Write): void {
    const writes = this.#kinds.get(write.kind)
    if (writes === undefined) this.#kinds.set(write.kind, [write])
    else writes.push(write)
  }

  wanted(): ReadonlySet<string>[] {
    const targets = Array.from(this.#kinds.values(), (writes) => {
      const holders = new Map<string, string>()
      for (const write of writes) this.#apply(write, holders)
      return new Set(holders.values())
    })
    return targets.filter(({ size }) => size > 0)
  }

  isHeldSince(shown: Shown): boolean {
    return [...this.#kinds].some(([kind, writes]) => {
      const seen = [...shown.values()].filter((write) => write.kind === kind).map(({ seq }) => seq)
      return seen.length > 0 && this.#isNeverFree(writes, Math.max(...seen))
    })
  }

  #isNeverFree(writes: readonly Write[], since: number): boolean {
    const holders = new Map<string, string>()
    for (const write of writes) {
      this.#apply(write, holders)
      if (write.seq >= since && holders.size === 0) return false
    }
    return true
  }

  #apply({ object, addresses }: Write, holders: Map<string, string>): void {
    const address = addresses.get(this.#name)
    if (address === undefined) holders.delete(object)
    else holders.set(object, address)
  }
}
