// What clients did to lists and saw of them, and what is wrong about it. Lists only grow: an append puts a value, which is
// used once in the whole run, at the next place of a list. All times are on one clock.
//
// A primary writes a timeline of its own. So an append that begins on an older timeline after one on a newer timeline was
// acknowledged means that two members took writes at the same time.

interface Operation {
  readonly beganAt: number
  readonly endedAt: number
  /** Address of the server. */
  readonly node: string
  readonly list: number
}

export interface Append extends Operation {
  readonly value: number
  readonly place: number
  readonly timeline: number
}

export interface Read extends Operation {
  readonly length: number
  /** The last ones: place and value. */
  readonly tail: readonly (readonly [place: number, value: number])[]
}

/** What is stored at the end, in any order. */
export interface Stored {
  readonly list: number
  readonly place: number
  readonly value: number
}

export interface Verdict {
  readonly acknowledged: number
  /** Sent, and neither acknowledged nor certainly refused. */
  readonly unknown: number
  readonly reads: number
  /** Seen by readers that were connected to a primary which others had replaced. */
  readonly stale: number
  readonly lost: readonly string[]
  readonly misplaced: readonly string[]
  readonly doubled: readonly string[]
  /** Stored, though no client has sent it, or though it was refused. */
  readonly phantoms: readonly string[]
  /** Read, and not stored there at the end. */
  readonly dirty: readonly string[]
  /** Shorter than another client knew the list to be before the read began. */
  readonly backward: readonly string[]
  readonly splitBrain: readonly string[]
}

export class ListHistory {
  readonly #sent = new Set<number>()
  readonly #refused = new Set<number>()
  readonly #appends: Append[] = []
  readonly #reads: Read[] = []

  sent(value: number): void {
    this.#sent.add(value)
  }

  refused(value: number): void {
    this.#refused.add(value)
  }

  acknowledged(append: Append): void {
    this.#appends.push(append)
  }

  read(read: Read): void {
    this.#reads.push(read)
  }

  get acknowledgements(): number {
    return this.#appends.length
  }

  /** The last one. */
  get last(): Append | undefined {
    return this.#appends.at(-1)
  }

  /** The longest time without an acknowledgement, in milliseconds, from `from` to `to`. */
  longestGap(from: number, to: number): number {
    const ends = this.#appends.map(({ endedAt }) => endedAt).filter((at) => at > from && at < to)
    const times = [from, ...ends.toSorted((a, b) => a - b), to]
    return times.slice(1).reduce((longest, at, index) => Math.max(longest, at - times[index]), 0)
  }

  check(stored: readonly Stored[]): Verdict {
    const places = new Map(stored.map(({ list, place, value }) => [`${list}/${place}`, value]))
    const byValue = Map.groupBy(stored, ({ value }) => value)
    const isAt = (append: Append) => places.get(`${append.list}/${append.place}`) === append.value
    const missing = this.#appends.filter((append) => !isAt(append))
    const reads = this.#checkReads(places)
    return {
      acknowledged: this.#appends.length,
      unknown: this.#sent.size - this.#refused.size - this.#appends.length,
      reads: this.#reads.length,
      stale: reads.stale,
      lost: missing.filter(({ value }) => !byValue.has(value)).map(describe),
      misplaced: missing.filter(({ value }) => byValue.has(value)).map(describe),
      doubled: [...byValue].filter(([, { length }]) => length > 1).map(([value]) => `value ${value}`),
      phantoms: [...byValue.keys()]
        .filter((value) => !this.#sent.has(value) || this.#refused.has(value))
        .map((value) => `value ${value}`),
      dirty: reads.dirty,
      backward: reads.backward,
      splitBrain: this.#splitBrain(),
    }
  }

  #checkReads(places: ReadonlyMap<string, number>): { stale: number; dirty: string[]; backward: string[] } {
    const dirty = this.#reads.flatMap(({ list, tail, node }) =>
      tail
        .filter(([place, value]) => places.get(`${list}/${place}`) !== value)
        .map(([place, value]) => `value ${value} at ${place} of list ${list}, read from ${node}`),
    )
    // What was known of each list, in the order in which it became known.
    const known = [
      ...this.#appends.map(({ list, place, endedAt }) => ({ list, length: place, at: endedAt })),
      ...this.#reads.map(({ list, length, endedAt }) => ({ list, length, at: endedAt })),
    ].toSorted((a, b) => a.at - b.at)
    const appends = this.#appends.toSorted((a, b) => a.endedAt - b.endedAt)
    const longest = new Map<number, number>()
    const backward: string[] = []
    let [next, nextAppend, stale] = [0, 0, 0]
    let lastNode: string | undefined
    for (const read of this.#reads.toSorted((a, b) => a.beganAt - b.beganAt)) {
      for (; next < known.length && known[next].at < read.beganAt; next++)
        longest.set(known[next].list, Math.max(longest.get(known[next].list) ?? 0, known[next].length))
      for (; nextAppend < appends.length && appends[nextAppend].endedAt < read.beganAt; nextAppend++)
        lastNode = appends[nextAppend].node
      const length = longest.get(read.list) ?? 0
      if (read.length >= length) continue
      if (lastNode !== undefined && lastNode !== read.node) stale++
      else backward.push(`list ${read.list} had ${read.length} values at ${read.node}, and ${length} before`)
    }
    return { stale, dirty, backward }
  }

  #splitBrain(): string[] {
    const found: string[] = []
    const nodes = new Map<number, string>()
    const ended = this.#appends.toSorted((a, b) => a.endedAt - b.endedAt)
    let [newest, next] = [0, 0]
    for (const append of this.#appends.toSorted((a, b) => a.beganAt - b.beganAt)) {
      for (; next < ended.length && ended[next].endedAt < append.beganAt; next++)
        newest = Math.max(newest, ended[next].timeline)
      const { timeline, node } = append
      if (timeline < newest) found.push(`${describe(append)} on timeline ${timeline}, after one on timeline ${newest}`)
      const owner = nodes.get(timeline) ?? node
      nodes.set(timeline, owner)
      if (owner !== node) found.push(`${describe(append)} on timeline ${timeline}, which is that of ${owner}`)
    }
    return found
  }
}

function describe({ value, place, list, node }: Append): string {
  return `value ${value} at ${place} of list ${list}, acknowledged by ${node}`
}
