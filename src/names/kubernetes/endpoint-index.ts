// Who wants which name: the endpoints of every object, by name. A change of an object touches only the names it had and
// has; what several objects want of one name is put together when somebody asks for that name.

import { isDeepStrictEqual } from 'node:util'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { mergeEndpoints } from '../endpoints/merge-endpoints.ts'
import { normalName } from '../endpoints/normal-name.ts'

interface Wish {
  readonly source: string
  readonly root: string
  readonly endpoint: Endpoint
}

export class EndpointIndex {
  /** By source and root. */
  readonly #roots = new Map<string, readonly Endpoint[]>()
  readonly #names = new Map<string, readonly Wish[]>()

  /** What a root stands for from now on. Returns the names for which that makes a difference. */
  set(source: string, root: string, endpoints: readonly Endpoint[]): readonly string[] {
    const key = `${source} ${root}`
    const before = byName(this.#roots.get(key) ?? [])
    const after = byName(endpoints)
    if (endpoints.length === 0) this.#roots.delete(key)
    else this.#roots.set(key, endpoints)
    const touched = [...new Set([...before.keys(), ...after.keys()])].filter(
      (name) => !isDeepStrictEqual(before.get(name), after.get(name)),
    )
    for (const name of touched) {
      const others = (this.#names.get(name) ?? []).filter((wish) => wish.root !== root || wish.source !== source)
      const wishes = [...others, ...(after.get(name) ?? []).map((endpoint) => ({ source, root, endpoint }))]
      if (wishes.length === 0) this.#names.delete(name)
      else this.#names.set(name, wishes)
    }
    return touched
  }

  /** Normalised names that somebody wants. */
  names(): Iterable<string> {
    return this.#names.keys()
  }

  get endpointCount(): number {
    let count = 0
    for (const endpoints of this.#roots.values()) count += endpoints.length
    return count
  }

  /** What is wanted of a name: merged within each source, as ExternalDNS does, the same thing once. */
  candidates(name: string): readonly Endpoint[] {
    const wishes = this.#names.get(name)
    if (wishes === undefined) return []
    if (wishes.length === 1) return [wishes[0].endpoint]
    // In the same order always, so that the same object stands for what several want.
    const bySource = Map.groupBy(wishes.toSorted(byRoot), ({ source }) => source)
    const merged = Array.from(bySource, ([source, each]) => {
      const endpoints = each.map(({ endpoint }) => endpoint)
      const pointers = endpoints.filter(({ recordType }) => recordType === 'PTR')
      if (pointers.length > 1) return mergeEndpoints(withTtl(endpoints, leastTtl(pointers)))
      return mergeEndpoints(source === 'service' ? withTtl(endpoints, endpoints[0].recordTTL) : endpoints)
    }).flat()
    const seen = new Set<string>()
    return merged.filter(({ recordType, setIdentifier = '', targets }) => {
      const identity = [recordType, setIdentifier, ...targets].join('/')
      return !seen.has(identity) && seen.add(identity)
    })
  }

  /** What is to be said of a name that several objects want with different targets; a name of many nodes has them all. */
  dispute(name: string): string | undefined {
    const wishes = (this.#names.get(name) ?? []).filter(({ source }) => source !== 'node')
    if (wishes.length < 2) return undefined
    const claims = Array.from(
      Map.groupBy(wishes, ({ root }) => root),
      ([root, each]) => {
        const targets = each.flatMap(({ endpoint }) => endpoint.targets).toSorted()
        return { root, targets: targets.join(' ') }
      },
    )
    const [first, other] = [claims[0], claims.find(({ targets }) => targets !== claims[0].targets)]
    if (other === undefined) return undefined
    const told = [first, other].map(({ root, targets }) => `${root} (${shortened(targets)})`).join(' and ')
    return `Name "${name}" is wanted by ${told} with different targets; give it to one object, or all of them the same targets`
  }
}

function byRoot(a: Wish, b: Wish): number {
  return a.root < b.root ? -1 : Number(a.root > b.root)
}

/** Services of one name are one set, whatever their TTLs; and so are the names of one address. */
function withTtl(endpoints: readonly Endpoint[], ttl: number | undefined): readonly Endpoint[] {
  return endpoints.map(({ recordTTL: _, ...endpoint }) =>
    ttl === undefined ? endpoint : { ...endpoint, recordTTL: ttl },
  )
}

function leastTtl(endpoints: readonly Endpoint[]): number | undefined {
  const given = endpoints.flatMap(({ recordTTL = 0 }) => (recordTTL > 0 ? [recordTTL] : []))
  return given.length === 0 ? undefined : Math.min(...given)
}

/** For a message. */
function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text
}

function byName(endpoints: readonly Endpoint[]): Map<string, Endpoint[]> {
  return Map.groupBy(endpoints, ({ dnsName }) => normalName(dnsName))
}
