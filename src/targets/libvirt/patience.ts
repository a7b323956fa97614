// Waiting takes minutes and asks hundreds of times: a hypervisor that does not answer for a moment, as while its daemon is restarted,
// is borne with. One that stays away is told.

import { HoldfastError } from '../../lib/errors.ts'

const PATIENCE_MS = 20_000

export class Patience {
  #lostAt: number | undefined

  /** `meanwhile`: in place of an answer while there is none. */
  async bear<T>(ask: () => Promise<T>, meanwhile: T): Promise<T> {
    try {
      const answer = await ask()
      this.#lostAt = undefined
      return answer
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== 'HypervisorUnreachable') throw error
      this.#lostAt ??= performance.now()
      if (performance.now() - this.#lostAt > PATIENCE_MS) throw error
      return meanwhile
    }
  }
}
