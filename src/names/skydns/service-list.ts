// Services in the order of their paths (then keys), as a list of short sorted arrays: finding a place takes two binary
// searches, inserting or removing moves a few hundred pointers at most.

import type { Service } from './parse-service.ts'
import { below } from './path.ts'

const LONGEST_CHUNK = 512
/** Stands behind every path and key. */
const BEHIND = '\uffff'

export class ServiceList {
  /** None of them is empty. */
  readonly #chunks: Service[][] = []

  add(service: Service): void {
    const at = this.#chunkFor(service.path, service.key)
    const chunk = this.#chunks[at]
    if (chunk === undefined) {
      // Behind everything: etcd lists keys in order, so this is how chunks get filled.
      const last = this.#chunks.at(-1)
      if (last === undefined || last.length === LONGEST_CHUNK) this.#chunks.push([service])
      else last.push(service)
      return
    }
    chunk.splice(placeIn(chunk, service.path, service.key), 0, service)
    if (chunk.length > LONGEST_CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(LONGEST_CHUNK >> 1))
  }

  /** The service must be in the list. */
  remove(service: Service): void {
    const at = this.#chunkFor(service.path, service.key)
    const chunk = this.#chunks[at]
    chunk.splice(placeIn(chunk, service.path, service.key), 1)
    if (chunk.length === 0) this.#chunks.splice(at, 1)
  }

  /** The services at this very path. */
  at(path: string, limit: number): Service[] {
    return this.#between(path, '', path, BEHIND, limit)
  }

  /** The first `limit` services below a path. */
  below(path: string, limit: number): Service[] {
    // A service at the root itself has the empty path, the first there is. Behind a slash comes a zero.
    return path === ''
      ? this.#between('\0', '', BEHIND, '', limit)
      : this.#between(`${path}/`, '', `${path}0`, '', limit)
  }

  /** Those of the first `compared` services below a path that match, at most `limit`. */
  matching(path: string, matches: (service: Service) => boolean, limit: number, compared: number): Service[] {
    const found: Service[] = []
    const prefix = below(path)
    const first = this.#chunkFor(prefix, '')
    let left = compared
    for (let at = first; at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at]
      for (let i = at === first ? placeIn(chunk, prefix, '') : 0; i < chunk.length; i++) {
        if (left-- === 0 || found.length === limit || !chunk[i].path.startsWith(prefix)) return found
        if (matches(chunk[i])) found.push(chunk[i])
      }
    }
    return found
  }

  atOrBelow(path: string, limit = Infinity): Service[] {
    return [...this.at(path, limit), ...this.below(path, limit)]
  }

  /** Whether there is a service at the path or below it. */
  has(path: string): boolean {
    return this.atOrBelow(path, 1).length > 0
  }

  /** From the first place, included, to the second, not included; a place is a path and a key. */
  #between(fromPath: string, fromKey: string, toPath: string, toKey: string, limit: number): Service[] {
    const taken: Service[] = []
    const first = this.#chunkFor(fromPath, fromKey)
    for (let at = first; at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at]
      const start = at === first ? placeIn(chunk, fromPath, fromKey) : 0
      if (taken.length === limit || !isBefore(chunk[start], toPath, toKey)) break
      const isInside = isBefore(chunk[chunk.length - 1], toPath, toKey)
      const end = isInside ? chunk.length : placeIn(chunk, toPath, toKey)
      for (let i = start; i < end && taken.length < limit; i++) taken.push(chunk[i])
    }
    return taken
  }

  /** The first chunk that ends at or behind the place. */
  #chunkFor(path: string, key: string): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >> 1
      const chunk = this.#chunks[middle]
      if (isBefore(chunk[chunk.length - 1], path, key)) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Where in the order a service with this path and key stands, or would stand. */
function placeIn(chunk: readonly Service[], path: string, key: string): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(chunk[middle], path, key)) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether the service stands before this path and key. */
export function isBefore(service: Service, path: string, key: string): boolean {
  return service.path < path || (service.path === path && service.key < key)
}
