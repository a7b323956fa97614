// "Did you mean …?": the candidate nearest to a mistyped word by edit distance, if one is near enough; else the only one
// that the word is a part of.

const SHORTEST_PART = 3
/** A longer list of words is cut to its beginning: its reader looks it up in the reference. */
const LONGEST_LIST = 8
const BEGINNING = 5

/** The end of a message about an unknown word: `did you mean "x"?`, or `expected one of a, b, c`. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = closest(word, known)
  return near === undefined ? `expected ${oneOf(known)}` : `did you mean "${near}"?`
}

export function oneOf(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? 'none'
  if (words.length <= LONGEST_LIST) return `one of ${words.join(', ')}`
  return `one of ${words.slice(0, BEGINNING).join(', ')}, … (${words.length} in all)`
}

export function closest(word: string, candidates: readonly string[]): string | undefined {
  // One slip in three letters is a typing error; more is another word. Nothing is near a word without a letter in common.
  let limit = Math.min(Math.max(1, Math.floor(word.length / 3)), word.length - 1)
  let best: string | undefined
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < limit || (distance === limit && best === undefined)) {
      best = candidate
      limit = distance
    }
  }
  if (best !== undefined || word.length < SHORTEST_PART) return best
  const longer = candidates.filter((candidate) => candidate.toLowerCase().includes(word.toLowerCase()))
  return longer.length === 1 ? longer[0] : undefined
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
