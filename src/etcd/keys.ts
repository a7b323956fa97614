// Keys are bytes. Those that begin with a prefix are a range: from the prefix to the first key behind all of them.

/** The end of the range of keys with this prefix; without a prefix, of all keys. */
export function prefixEnd(prefix: Uint8Array): Uint8Array {
  const last = prefix.findLastIndex((byte) => byte !== 0xff)
  // By agreement a single zero byte stands for the end of all keys.
  if (last === -1) return Uint8Array.of(0)
  // A Buffer's own slice would not be a copy.
  const end = new Uint8Array(prefix.subarray(0, last + 1))
  end[last]++
  return end
}

/** The range of all keys with this prefix. */
export function prefixRange(prefix: Uint8Array): { readonly key: Uint8Array; readonly rangeEnd: Uint8Array } {
  return { key: prefix.length === 0 ? Uint8Array.of(0) : prefix, rangeEnd: prefixEnd(prefix) }
}

const MAX_SHOWN = 80

/** For messages: as text in quotes, bytes that are no text escaped. */
export function showKey(key: Uint8Array): string {
  const text = Buffer.from(key.buffer, key.byteOffset, Math.min(key.length, MAX_SHOWN)).toString('utf8')
  const shown = text.replaceAll(
    /[\p{C}"\\\uFFFD]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `"${shown}${key.length > MAX_SHOWN ? '…' : ''}"`
}
