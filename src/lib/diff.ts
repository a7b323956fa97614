// What differs between two texts, line by line: the shortest edit (Myers 1986, "An O(ND) Difference Algorithm"), with a
// few lines around each change. Texts that differ in very many lines are told as all gone and all new: nobody would read
// the shortest edit between them, and finding it takes time that grows with the square of the differences.

export interface DiffLine {
  readonly sign: '+' | '-' | ' '
  readonly text: string
}

const CONTEXT_LINES = 3
const MOST_DIFFERENCES = 1000
/** Stands for the lines left out between two changes. */
const GAP: DiffLine = { sign: ' ', text: '…' }

/** Empty when the texts are equal. */
export function diffLines(before: string, after: string): DiffLine[] {
  if (before === after) return []
  const endsAlike = before.endsWith('\n') === after.endsWith('\n') || before === '' || after === ''
  return withContext(editScript(splitLines(before, endsAlike), splitLines(after, endsAlike)))
}

/** Where only one of two texts ends with a newline, that is a difference to be seen. */
function splitLines(text: string, endsAlike: boolean): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  else if (!endsAlike) lines.push(`${lines.pop()} (no newline at the end)`)
  return lines
}

/** Every line of both texts, in order. */
function editScript(before: readonly string[], after: readonly string[]): DiffLine[] {
  const most = Math.min(before.length, after.length)
  let head = 0
  while (head < most && before[head] === after[head]) head++
  let tail = 0
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const oldMiddle = before.slice(head, before.length - tail)
  const newMiddle = after.slice(head, after.length - tail)
  return [
    ...signed(' ', before.slice(0, head)),
    ...(shortestEdit(oldMiddle, newMiddle) ?? [...signed('-', oldMiddle), ...signed('+', newMiddle)]),
    ...signed(' ', before.slice(before.length - tail)),
  ]
}

function signed(sign: DiffLine['sign'], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ sign, text }))
}

/**
 * `x` counts lines of `before`, `y` those of `after`, and `k = x - y` names a diagonal. For each number of differences, the furthest
 * `x` that can be reached on each diagonal is kept, so that the way there can be walked back. Undefined when there are too many.
 */
function shortestEdit(before: readonly string[], after: readonly string[]): DiffLine[] | undefined {
  const most = Math.min(before.length + after.length, MOST_DIFFERENCES)
  // With room for the diagonals -most - 1 and most + 1.
  const furthest = new Int32Array(2 * most + 3)
  const zero = most + 1
  const trace: Int32Array[] = []
  for (let differences = 0; differences <= most; differences++) {
    trace.push(furthest.slice(zero - differences - 1, zero + differences + 2))
    for (let k = -differences; k <= differences; k += 2) {
      const isInsertion = comesFromAbove(k, differences, furthest[zero + k - 1], furthest[zero + k + 1])
      let x = isInsertion ? furthest[zero + k + 1] : furthest[zero + k - 1] + 1
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++
      furthest[zero + k] = x
      if (x >= before.length && x - k >= after.length) return walkBack(before, after, trace)
    }
  }
  return undefined
}

/** Whether the furthest way to diagonal k ends with a line that came, not with one that went. */
function comesFromAbove(k: number, differences: number, left: number, above: number): boolean {
  return k === -differences || (k !== differences && left < above)
}

function walkBack(before: readonly string[], after: readonly string[], trace: readonly Int32Array[]): DiffLine[] {
  const found: DiffLine[] = []
  let x = before.length
  let y = after.length
  for (let differences = trace.length - 1; x > 0 || y > 0; differences--) {
    const reached = trace[differences]
    const zero = differences + 1
    const k = x - y
    const isInsertion = comesFromAbove(k, differences, reached[zero + k - 1], reached[zero + k + 1])
    const previousK = isInsertion ? k + 1 : k - 1
    const previousX = differences === 0 ? 0 : reached[zero + previousK]
    const previousY = differences === 0 ? 0 : previousX - previousK
    while (x > previousX && y > previousY) {
      found.push({ sign: ' ', text: before[--x] })
      y--
    }
    if (y > previousY) found.push({ sign: '+', text: after[--y] })
    else if (x > previousX) found.push({ sign: '-', text: before[--x] })
  }
  return found.reverse()
}

/** Changes, the lines around them, and a mark wherever lines are left out. */
function withContext(script: readonly DiffLine[]): DiffLine[] {
  const isNear = new Uint8Array(script.length)
  for (const [at, { sign }] of script.entries())
    if (sign !== ' ') isNear.fill(1, Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1)
  return script.flatMap((line, at) => {
    if (isNear[at] === 1) return [line]
    return at === 0 || isNear[at - 1] === 1 ? [GAP] : []
  })
}
