// Which zone a path belongs to. Zones may lie inside one another; a name belongs to the innermost.

import { parseName } from '../../dns/name.ts'
import { parentOf, pathOfName } from './path.ts'

export class Zones {
  /** Origins as they were given, by path, and the other way round. */
  readonly #origins = new Map<string, string>()
  readonly #paths = new Map<string, string>()

  constructor(origins: readonly string[]) {
    for (const origin of origins) {
      const path = pathOfName(parseName(origin))
      if (path === undefined) continue
      this.#origins.set(path, origin)
      this.#paths.set(origin, path)
    }
  }

  has(path: string): boolean {
    return this.#origins.has(path)
  }

  /** The origin at the path of a zone. */
  originAt(path: string): string {
    return this.#origins.get(path) ?? ''
  }

  pathOf(origin: string): string | undefined {
    return this.#paths.get(origin)
  }

  /** Path of the innermost zone that the path is in. */
  innermost(path: string): string | undefined {
    for (let at: string | undefined = path; at !== undefined; at = parentOf(at)) if (this.#origins.has(at)) return at
    return undefined
  }

  /** Path of the outermost zone that the path is in. */
  outermost(path: string): string | undefined {
    let found: string | undefined
    for (let at: string | undefined = path; at !== undefined; at = parentOf(at)) if (this.#origins.has(at)) found = at
    return found
  }
}
