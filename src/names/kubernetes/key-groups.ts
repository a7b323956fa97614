// Keys by the group they belong to, such as pods by their node: an index that is kept up to date key by key.

export class KeyGroups {
  readonly #groups = new Map<string, Set<string>>()

  add(group: string, key: string): void {
    const keys = this.#groups.get(group)
    if (keys === undefined) this.#groups.set(group, new Set([key]))
    else keys.add(key)
  }

  delete(group: string, key: string): void {
    const keys = this.#groups.get(group)
    if (keys?.delete(key) && keys.size === 0) this.#groups.delete(group)
  }

  of(group: string): Iterable<string> {
    return this.#groups.get(group) ?? []
  }
}
