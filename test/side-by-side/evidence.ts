// What the stored keys have that could make the two servers differ on a question. It is read from the keys, not from the
// answers, so that a rule cannot excuse an answer that nothing in etcd explains.

import { formatName, isSubdomain, lowerName, parseName } from '../../src/dns/name.ts'
import { type StoredKey, type Tree, zoneLabels } from './random-tree.ts'

export interface Evidence {
  readonly isApex: boolean
  /** The value at the key that spells the name. */
  readonly own: Value | undefined
  /** Whether there are keys below the name, or where it searches. */
  readonly hasBelow: boolean
  /** Values that answer for the name, for what it searches, and for the names inside the zone that these lead to. */
  readonly values: readonly Value[]
  /** Whether one of these names has an alias beside something else. */
  readonly isCrowded: boolean
  /** Hosts of aliases, at the names involved, that keys below them hide. */
  readonly hiddenAliases: readonly string[]
  /** Whether a label of the name stands for every label. */
  readonly isSearch: boolean
  /** Whether a key of the zone is not spelled as CoreDNS looks for it. */
  readonly isMisspelled: boolean
  /** Whether what is below a name, or stands for the apex, hides the name's own value. */
  readonly isHidden: (name: Uint8Array) => boolean
}

export interface Value {
  readonly host: string
  readonly text: string
  readonly targetstrip: number
  readonly isLeased: boolean
  /** CoreDNS cannot read it. */
  readonly isBroken: boolean
}

export function evidence(prefix: string, { zone, keys }: Tree, name: Uint8Array): Evidence {
  const origin = parseName(zone)
  const path = pathOf(prefix, name)
  const isApex = path === pathOf(prefix, origin)
  const groups: Value[][] = []
  const waiting = [path, ...(isApex ? [`${path}/dns/ns`] : [])]
  const seen = new Set<string>()
  for (const at of waiting) {
    if (seen.has(at)) continue
    seen.add(at)
    const values = keys.filter(({ key }) => answersFor(key, at)).map(valueOf)
    groups.push(values)
    for (const { host } of values) {
      if (isName(host) && isSubdomain(hostName(host), origin)) waiting.push(pathOf(prefix, hostName(host)))
    }
  }
  const own = keys.find(({ key }) => key === path)
  return {
    isApex,
    own: own && valueOf(own),
    hasBelow: keys.some(({ key }) => key.startsWith(`${path.replace(/\/(?:\*|any)(?:\/.*)?$/u, '')}/`)),
    values: groups.flat(),
    isCrowded: groups.some((values) => {
      const useful = values.filter(({ host, text }) => host !== '' || text !== '')
      return useful.length > 1 && useful.some(({ host }) => isName(host))
    }),
    hiddenAliases: [...seen].flatMap((at) => {
      const key = keys.find((each) => each.key === at && keys.some((other) => other.key.startsWith(`${at}/`)))
      return key !== undefined && isName(valueOf(key).host) ? [valueOf(key).host] : []
    }),
    isSearch: /\/(?:\*|any)(?:\/|$)/u.test(path),
    isMisspelled: keys.some(({ key }) => !/^(?:\/(?:[a-z\d_-]+|\*))+$/u.test(key) || key.includes('/any/')),
    isHidden: (other) => keys.some(({ key }) => key.startsWith(`${pathOf(prefix, other)}/`)),
  }
}

export function isName(host: string): boolean {
  return host !== '' && !/^[\d.]+$|:/u.test(host)
}

/** Wire form of a host that is a name. */
export function hostName(host: string): Uint8Array {
  return lowerName(parseName(host.endsWith('.') ? host : `${host}.`))
}

function valueOf({ value, lease }: StoredKey): Value {
  const unread = { host: '', text: '', targetstrip: 0, isLeased: lease !== undefined, isBroken: true }
  try {
    const json: unknown = JSON.parse(value)
    if (json === null) return { ...unread, isBroken: false }
    if (typeof json !== 'object' || Array.isArray(json)) return unread
    const fields = Object.entries(json).map(([field, content]) => [field.toLowerCase(), content])
    const { host = '', text = '', targetstrip = 0, port = 0 } = Object.fromEntries(fields)
    if (typeof host !== 'string' || typeof port !== 'number') return unread
    return { ...unread, host, text, targetstrip, isBroken: false }
  } catch {
    return unread
  }
}

function pathOf(prefix: string, name: Uint8Array): string {
  return [prefix, ...zoneLabels(formatName(name))].join('/')
}

/** Whether the key is at the path or below it; `*` and `any` stand for every label. */
function answersFor(key: string, path: string): boolean {
  const labels = key.split('/')
  return path
    .split('/')
    .every((label, i) => (label === '*' || label === 'any' ? labels[i] !== undefined : labels[i] === label))
}
