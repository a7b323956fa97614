// How words and paths are written in systemd's unit files.

/** Of a command line: neither quotes nor `%` nor `$` mean anything any more. */
export function commandLine(words: readonly string[]): string {
  return words.map((word) => quoteWord(word.replaceAll('$', '$$$$'))).join(' ')
}

/** Of other settings: `$` means nothing there. */
export function quoteWord(word: string): string {
  const text = word.replaceAll('%', '%%')
  return /^[\w./:=@,+$%-]+$/u.test(text) ? text : JSON.stringify(text)
}

/** `/var/lib/etcd` → `var-lib-etcd`: the name of its mount unit, or with a device, its device unit. */
export function escapePath(path: string): string {
  const inner = path.replaceAll(/\/+/gu, '/').replaceAll(/^\/|\/$/gu, '')
  return Buffer.from(inner).reduce((escaped, byte, at) => escaped + escapeByte(byte, at), '')
}

function escapeByte(byte: number, at: number): string {
  const character = String.fromCharCode(byte)
  if (character === '/') return '-'
  const isPlain = /[\w:.]/u.test(character) && !(at === 0 && character === '.')
  return isPlain ? character : `\\x${byte.toString(16).padStart(2, '0')}`
}
