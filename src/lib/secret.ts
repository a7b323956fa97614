// A password or key that cannot be printed by accident: logs, messages, JSON and inspection show ***. Only reveal()
// gives the value, so that a search for it finds every place a secret goes to.

import { inspect } from 'node:util'

const HIDDEN = '***'

export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return HIDDEN
  }

  toJSON(): string {
    return HIDDEN
  }

  [inspect.custom](): string {
    return HIDDEN
  }
}
