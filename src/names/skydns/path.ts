// A SkyDNS key spells a name from the right: /skydns/org/example/www is www.example.org. What is left of a key without
// its prefix, in lower case and with escapes resolved, is its path: org/example/www, one character per byte. In the order
// of paths, which is the order of etcd's keys, everything below a name stands together.

import { lowerName, MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from '../../dns/name.ts'

/** One character per byte. */
export function latin1(bytes: Uint8Array): string {
  // A copy, as asking a small array for its buffer moves it out of the heap, which costs far more.
  return Buffer.from(bytes).toString('latin1')
}

/** The bytes of a text with one character per byte. */
export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** Path of a name in wire form; undefined when a label has a slash in it, as no key can spell that. */
export function pathOfName(name: Uint8Array): string | undefined {
  const text = latin1(lowerName(name))
  let path = ''
  for (let at = 0; name[at] !== 0; at += name[at] + 1) {
    const label = text.slice(at + 1, at + 1 + name[at])
    if (label.includes('/')) return undefined
    path = path === '' ? label : `${label}/${path}`
  }
  return path
}

/** Wire form of the name at a path. */
export function nameOf(path: string): Uint8Array {
  // A length byte takes the place of each slash; the first label's and the root's come on top.
  const name = new Uint8Array(path === '' ? 1 : path.length + 2)
  let to = 0
  for (let end = path.length; end > 0; ) {
    const start = path.lastIndexOf('/', end - 1) + 1
    name[to++] = end - start
    for (let i = start; i < end; i++) name[to++] = path.charCodeAt(i)
    end = start - 1
  }
  return name
}

/** What the paths of everything below `path` begin with. */
export function below(path: string): string {
  return path === '' ? '' : `${path}/`
}

export function isAtOrBelow(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(below(ancestor))
}

/** The path one label up; the root has none. */
export function parentOf(path: string): string | undefined {
  return path === '' ? undefined : path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** Number of slashes, as keys are compared by it. */
export function depthOf(path: string): number {
  let depth = 0
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) depth++
  return depth
}

/** Without the leftmost `count` labels of the name; unchanged when that would leave nothing. */
export function strip(path: string, count: number): string {
  let end = path.length
  for (let i = 0; i < count; i++) {
    end = path.lastIndexOf('/', end - 1)
    if (end <= 0) return path
  }
  return path.slice(0, end)
}

/** No name is longer as text, even with every byte escaped. */
const LONGEST_TEXT = 4 * MAX_NAME_LENGTH

/** Path of what follows the prefix in a key, and what keeps it from being a name. */
export function readPath(text: string): { readonly path: string; readonly problem: string | undefined } {
  // Enough to tell the zone; the rest is only too long.
  let path = text.slice(0, LONGEST_TEXT)
  let malformed = false
  if (path.includes('\\'))
    path = path.replace(/\\(?:(\d{3})|(\D))?/gu, (_, code?: string, character?: string) => {
      const byte = code === undefined ? (character ?? '/') : String.fromCharCode(Number(code))
      if (byte === '/' || byte > '\xff') malformed = true
      return byte
    })
  // Not toLowerCase() for all: only ASCII letters are equal in DNS.
  if (/[A-Z]/u.test(path)) path = path.replace(/[A-Z]+/gu, (letters) => letters.toLowerCase())
  const escape = 'it has a malformed escape; expected \\DDD (000 to 255, not a slash) or \\ and a character'
  return { path, problem: malformed ? escape : pathProblem(path) }
}

function pathProblem(path: string): string | undefined {
  if (path === '') return undefined
  if (path.length + 2 > MAX_NAME_LENGTH) return `its name is too long; expected at most ${MAX_NAME_LENGTH} bytes`
  for (let start = 0; start <= path.length; ) {
    const slash = path.indexOf('/', start)
    const length = (slash < 0 ? path.length : slash) - start
    if (length === 0) return 'it has an empty label; expected one slash between two labels, and none at the end'
    if (length > MAX_LABEL_LENGTH) return `a label has ${length} bytes; expected at most ${MAX_LABEL_LENGTH}`
    start += length + 1
  }
  return undefined
}
