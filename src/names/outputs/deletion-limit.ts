// How many names may go in one run. A filter that was mistyped, a kubeconfig of another cluster or an API server that
// lost its data look like everything had been deleted; nobody deletes the greater part of their names unseen.

/** So many go without question: a small installation has to be able to lose all of its names. */
const ALWAYS = 20
const LARGEST_SHARE = 0.5

export interface Verdict {
  /** Names that stay. */
  readonly withheld: readonly string[]
  /** Why, where any do. */
  readonly message?: string
}

/** `most` holds for deletions that were watched, too; without it those always go. */
export function limitDeletions(
  names: readonly string[],
  wasWatched: (name: string) => boolean,
  most: number | undefined,
  countOwned: () => number,
): Verdict {
  const counted = most === undefined ? names.filter((name) => !wasWatched(name)) : names
  if (counted.length <= (most ?? ALWAYS)) return { withheld: [] }
  const owned = most === undefined ? countOwned() : 0
  if (most === undefined && counted.length <= owned * LARGEST_SHARE) return { withheld: [] }
  const why = most === undefined ? `there are ${owned}, and nobody was seen deleting them` : `at most ${most} may go`
  const wish = `look at --kubeconfig, --namespace and the filters, or allow it with --max-deletions=${counted.length}`
  return { withheld: counted, message: `Cannot delete ${counted.length} names in one run: ${why}; ${wish}` }
}
