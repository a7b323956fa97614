// Labels as the text that ExternalDNS puts into TXT records: `heritage=external-dns,external-dns/owner=me,…`, with the
// keys in order. A text of another heritage is no text of labels.

const HERITAGE = 'external-dns'
const PREFIX = `${HERITAGE}/`

export type Labels = Readonly<Record<string, string>>

/** Undefined when the text is not of this heritage. */
export function parseLabels(text: string): Labels | undefined {
  if (!text.includes(`heritage=${HERITAGE}`)) return undefined
  const tokens = unquoted(text).split(',').map(keyAndValue)
  const heritages = tokens.filter(([key, value]) => key === 'heritage' && value !== undefined)
  if (heritages.length === 0 || heritages.some(([, value]) => value !== HERITAGE)) return undefined
  return Object.fromEntries(
    tokens.flatMap(([key, value]) =>
      value !== undefined && key.startsWith(PREFIX) ? [[key.slice(PREFIX.length), value]] : [],
    ),
  )
}

/** Without quotes. Leaves out what the text cannot hold: it would be read as something else, an owner for example. */
export function formatLabels(labels: Labels): string {
  const tokens = Object.entries(labels)
    .filter(([key, value]) => !/[,"=]/u.test(key) && !/[,"]/u.test(value))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${PREFIX}${key}=${value}`)
  return [`heritage=${HERITAGE}`, ...tokens].join(',')
}

/** Without the quotes at both ends, however many. */
export function unquoted(text: string): string {
  let [from, to] = [0, text.length]
  while (text[from] === '"') from++
  while (to > from && text[to - 1] === '"') to--
  return text.slice(from, to)
}

function keyAndValue(token: string): [string, string | undefined] {
  const at = token.indexOf('=')
  return at < 0 ? [token, undefined] : [token.slice(0, at), token.slice(at + 1)]
}
