// How far a server has come in following one source, as far as its answers tell. What it has passed for a while, it must
// not miss in any other name.

/** Names that change together are put into service one after the other. */
const SETTLE_MS = 2000

export class Progress {
  /** Revisions shown, ascending, and when. */
  #shown: { readonly revision: bigint; readonly at: number }[] = []

  show(revision: bigint): void {
    const last = this.#shown.at(-1)
    if (last === undefined || revision > last.revision) this.#shown.push({ revision, at: performance.now() })
  }

  /** Everything up to this revision has been taken in. */
  passed(): bigint {
    const settled = performance.now() - SETTLE_MS
    const at = this.#shown.findLastIndex((each) => each.at <= settled)
    if (at > 0) this.#shown.splice(0, at)
    return at < 0 ? 0n : this.#shown[0].revision
  }
}
