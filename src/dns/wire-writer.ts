// Writes the parts of a DNS message in order into a buffer of known size, compressing names (RFC 1035 section 4.1.4).

export class WireWriter {
  readonly bytes: Uint8Array
  readonly view: DataView
  /** Names already written, as Latin-1 strings. Letter case counts, so that it survives the round trip. */
  readonly seen = new Map<string, number>()
  at = 0

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity)
    this.view = new DataView(this.bytes.buffer)
  }

  u16(value: number): void {
    this.view.setUint16(this.at, value)
    this.at += 2
  }

  u32(value: number): void {
    this.view.setUint32(this.at, value)
    this.at += 4
  }

  raw(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.at)
    this.at += bytes.length
  }

  name(name: Uint8Array): void {
    for (let from = 0; name[from] !== 0; from += 1 + name[from]) {
      const suffix = String.fromCharCode(...name.subarray(from))
      const before = this.seen.get(suffix)
      if (before !== undefined) {
        this.u16(0xc000 | before)
        return
      }
      if (this.at < 0x4000) this.seen.set(suffix, this.at)
      this.raw(name.subarray(from, from + 1 + name[from]))
    }
    this.bytes[this.at++] = 0
  }

  /** Forgets everything from `at` on, the names there included. */
  rewind(at: number): void {
    for (const [suffix, offset] of this.seen) if (offset >= at) this.seen.delete(suffix)
    this.at = at
  }
}
