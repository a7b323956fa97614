// Bytes that come in pieces, as whole lines: what a watch is made of. A line may be several megabytes and come in a
// thousand pieces, so pieces are put together once, when the line has ended.

const NEWLINE = 10

export class Lines {
  #pieces: Buffer[] = []

  /** The lines that this piece completes, without their ends. Empty ones are left out. */
  take(piece: Buffer): Buffer[] {
    const lines: Buffer[] = []
    let from = 0
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      const line = this.#complete(piece.subarray(from, end))
      if (line.length > 0) lines.push(line)
      from = end + 1
    }
    if (from < piece.length) this.#pieces.push(piece.subarray(from))
    return lines
  }

  #complete(last: Buffer): Buffer {
    if (this.#pieces.length === 0) return last
    const line = Buffer.concat([...this.#pieces, last])
    this.#pieces = []
    return line
  }
}
