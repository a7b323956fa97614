// Versions of objects and lists are numbers that only grow, written in decimal: so they are compared as text, by length
// first. A server whose versions are something else is taken at its word: none of them is older than another.

const DECIMAL = /^[1-9]\d*$/u

export function isOlder(version: string, than: string): boolean {
  if (!DECIMAL.test(version) || !DECIMAL.test(than)) return false
  return version.length === than.length ? version < than : version.length < than.length
}
