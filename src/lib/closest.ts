// "Did you mean …?": the candidate nearest to a mistyped word by edit distance, if one is near enough.

export function closest(word: string, candidates: Iterable<string>): string | undefined {
  // One slip in three letters is a typing error; more is another word.
  let limit = Math.floor(word.length / 3) + 1
  let best: string | undefined
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < limit || (distance === limit && best === undefined)) {
      best = candidate
      limit = distance
    }
  }
  return best
}

/** Optimal string alignment: insertions, deletions, substitutions and swapped neighbours count one each. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let distance = Math.min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (same ? 0 : 1))
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, beforePrevious[column - 2] + 1)
      }
      current.push(distance)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[b.length]
}
