// What etcd was told, key by key and in etcd's order, and hence what a server may answer. A server lags behind but never
// goes back: what it shows of a name must be found at or after the place in the history it has shown already.
//
//   writes of a key      0 ── 1 ── 2 ── 3 ── 4       (2 not decided yet, or void: never stored)
//   track of one name    nx   s7             s12     the value of the name from a write on
//
// A write is open until its outcome is known; a server may show it or not. What turns out void must not have been shown.

/** `s12` (of write number 12), `nx` (no such name), `no zone`; or what no write ever leads to, such as `SERVFAIL`. */
export type Value = string

export interface Write {
  readonly index: number
  /** Undefined for the end of a lease, which nobody writes. */
  readonly seq: number | undefined
  readonly kind: 'put' | 'gone' | 'refused'
  /** `possible`: it will never be known. */
  outcome: 'open' | 'done' | 'possible' | 'void'
  /** When the outcome was known: milliseconds of the monotonic clock. */
  doneAt: number
  /** Of etcd; undefined where nobody was told. */
  revision: bigint | undefined
  readonly tracks: readonly Track[]
  /** Servers that answered what only this write explains. */
  readonly seenBy: Set<string>
  /** Makes it the key's content. */
  readonly onDone: () => void
}

interface Step {
  readonly write: Write
  readonly value: Value
}

/** Where a value was found. A name can have had it several times, as when it is deleted again and again. */
export interface Place {
  /** The server is here, at least. */
  readonly write: Write
  /** What replaced the value the last time, if anything did. */
  readonly next: Write | undefined
}

/** The values of one name. */
export class Track {
  readonly #steps: Step[]

  constructor(value: Value) {
    this.#steps = [{ value, write: start() }]
  }

  add(write: Write, value: Value): void {
    this.#steps.push({ write, value })
  }

  remove(write: Write): void {
    const at = this.#steps.findLastIndex((step) => step.write === write)
    if (at >= 0) this.#steps.splice(at, 1)
  }

  /** The first place with this value that is not over before the write with that index. */
  find(value: Value, since: number): Place | undefined {
    const first = this.#steps.findLastIndex((step) => step.write.index <= since)
    const at = this.#steps.findIndex((step, i) => i >= first && step.value === value)
    if (at < 0) return undefined
    const last = this.#steps.findLastIndex((step) => step.value === value)
    return { write: this.#steps[at].write, next: this.#steps.at(last + 1)?.write }
  }

  has(value: Value): boolean {
    return this.#steps.some((step) => step.value === value)
  }

  /** The value from that write on. */
  at(index: number): Value {
    return this.#steps.findLast((step) => step.write.index <= index)?.value ?? ''
  }
}

export interface WriteOptions {
  readonly seq: number | undefined
  readonly kind: Write['kind']
  /** Values that names have from then on. */
  readonly steps: readonly (readonly [Track, Value])[]
  readonly onDone: () => void
}

/** The writes to one key. */
export class History {
  readonly #writes: Write[] = []
  readonly #onFalse: (write: Write) => void

  /** `onFalse` is told of a write that was shown although it was never stored. */
  constructor(onFalse: (write: Write) => void) {
    this.#onFalse = onFalse
  }

  /** Of the last write that is or may be stored. */
  get end(): number {
    return this.#writes.at(-1)?.index ?? 0
  }

  /** Of the last write that is stored for sure. */
  get sure(): number {
    return this.#writes.findLast(({ outcome }) => outcome === 'done')?.index ?? 0
  }

  /** A refused value keeps what it was meant to replace in service: nobody has to follow beyond it. */
  isRefusedSince(index: number): boolean {
    return this.#since(index).some(({ kind }) => kind === 'refused')
  }

  /** Whether it may have been deleted after the write with that index. */
  isGoneSince(index: number): boolean {
    return this.#since(index).some(({ kind, outcome }) => kind === 'gone' && outcome !== 'void')
  }

  begin({ seq, kind, steps, onDone }: WriteOptions): Write {
    const write: Write = {
      ...{ index: this.end + 1, seq, kind, outcome: 'open', doneAt: 0, revision: undefined, onDone },
      tracks: steps.map(([track]) => track),
      seenBy: new Set(),
    }
    this.#writes.push(write)
    for (const [track, value] of steps) track.add(write, value)
    return write
  }

  /** It is stored; so nothing before it that is still open ever was. */
  confirm(write: Write, revision: bigint | undefined): void {
    for (const other of this.open()) if (other.index < write.index) this.refute(other)
    write.outcome = 'done'
    write.revision = revision
    write.doneAt = performance.now()
    write.onDone()
  }

  refute(write: Write): void {
    write.outcome = 'void'
    for (const track of write.tracks) track.remove(write)
    if (write.seenBy.size > 0) this.#onFalse(write)
  }

  open(): Write[] {
    const settled = this.#writes.findLastIndex(({ outcome }) => outcome === 'done')
    return this.#writes.slice(settled + 1).filter(({ outcome }) => outcome === 'open')
  }

  #since(index: number): Write[] {
    return this.#writes.slice(this.#writes.findLastIndex((write) => write.index <= index) + 1)
  }
}

function start(): Write {
  return {
    ...{ index: 0, seq: undefined, kind: 'gone', outcome: 'done', doneAt: 0, revision: undefined, tracks: [] },
    seenBy: new Set(),
    onDone: () => undefined,
  }
}
