// How many names may go in one run. A filter that was mistyped, a kubeconfig of another cluster or an API server that
// lost its data look like everything had been deleted; nobody deletes the greater part of their names unseen.

import type { Log } from '../../lib/log.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'

/** So many go without question: a small installation has to be able to lose all of its names. */
const ALWAYS = 20
const LARGEST_SHARE = 0.5

export class DeletionLimit {
  readonly #most: number | undefined
  readonly #log: Log
  #told = 0

  /** `most` holds for every run, and for deletions that were watched too; undefined leaves those alone. */
  constructor(most: number | undefined, log: Log) {
    this.#most = most
    this.#log = log
  }

  allow(
    deletions: readonly Endpoint[],
    wasWatched: (endpoint: Endpoint) => boolean,
    countOwned: () => number,
  ): readonly Endpoint[] {
    const most = this.#most
    const counted = most === undefined ? deletions.filter((each) => !wasWatched(each)) : deletions
    const names = new Set(counted.map(({ dnsName }) => dnsName)).size
    if (names <= (most ?? ALWAYS)) return deletions
    const owned = most === undefined ? countOwned() : 0
    if (most === undefined && names <= owned * LARGEST_SHARE) return deletions
    this.#tell(
      names,
      most === undefined ? `it has ${owned}, and nobody was seen deleting them` : `at most ${most} may go`,
    )
    return most === undefined ? deletions.filter(wasWatched) : []
  }

  #tell(names: number, why: string): void {
    if (names === this.#told) return
    this.#told = names
    this.#log.error(
      `Cannot delete ${names} names in one run: ${why}; look at --kubeconfig, --namespace and the filters, or allow it with --max-deletions=${names}`,
    )
  }
}
