// Random SkyDNS trees: few labels, few addresses and many kinds of values, so that parents with values of their own,
// equal addresses, aliases of aliases, groups that disagree and loops all come up within a dozen keys. Each tree leaves
// out some of what we answer differently, so that most differences cannot hide behind a rule.

import type { Random } from '../fuzz/random.ts'

export interface StoredKey {
  readonly key: string
  readonly value: string
  /** Seconds. */
  readonly lease?: number
}

export interface Tree {
  /** Absolute, in lower case. */
  readonly zone: string
  readonly keys: readonly StoredKey[]
}

/** What a tree may have. */
interface Features {
  /** `alone`: no key beside them at their name or below. */
  readonly aliases: 'none' | 'alone' | 'any'
  /** Values of neither host nor text. */
  readonly empty: boolean
  readonly ttls: boolean
  /** targetstrip also where the host is a name. */
  readonly stripNames: boolean
  readonly backslashes: boolean
  /** Values that are not what CoreDNS or we can use. */
  readonly broken: boolean
  readonly leases: readonly number[]
}

const LABELS = ['a', 'b', 'c', 'www', '_sip', '_tcp', 'x-1', 'dns', 'ns', 'apex', '10']
const OUTSIDE = ['www.outside.example', 'outside.example.', 'Alias.Outside.Example', 'missing.outside.example']
const ADDRESSES_6 = ['2001:db8::1', '2001:DB8:0::2', '::1', '::ffff:10.0.0.1', 'fe80::1', '64:ff9b::192.0.2.1']
const BROKEN = [
  '',
  '{',
  '{"host":}',
  '[]',
  '"10.0.0.1"',
  'null',
  '{"host":5}',
  '{"host":"10.0.0.1","port":"80"}',
  '\u0000',
]

export function randomTree(random: Random, prefix: string, zone: string, leases: readonly number[] = []): Tree {
  const features: Features = {
    aliases: random.pick(['none', 'alone', 'alone', 'any']),
    empty: random.chance(0.15),
    ttls: random.chance(0.5),
    stripNames: random.chance(0.2),
    backslashes: random.chance(0.2),
    broken: random.chance(0.15),
    leases,
  }
  const keys = new Map<string, StoredKey>()
  const names = Array.from({ length: random.between(2, 12) }, () => randomName(random))
  const add = (labels: readonly string[], value: string) => {
    const key = [prefix, ...zoneLabels(zone), ...labels].join('/')
    const lease = features.leases.length > 0 && random.chance(0.5) ? { lease: random.pick(features.leases) } : {}
    keys.set(key, { key, value, ...lease })
  }
  const lone = features.aliases === 'alone' ? Array.from({ length: random.between(1, 5) }, (_, i) => [`alias${i}`]) : []
  const targets = [...names, ...lone]
  for (const labels of names) {
    const aliased = features.aliases === 'any' && random.chance(0.4)
    const host = aliased ? randomAlias(random, zone, targets) : randomAddress(random)
    add(
      labels,
      features.broken && random.chance(0.3) ? random.pick(BROKEN) : randomValue(random, host, aliased, features),
    )
  }
  for (const labels of lone) {
    const below = random.chance(0.5) ? [random.pick(LABELS)] : []
    add([...labels, ...below], randomValue(random, randomAlias(random, zone, targets), true, features))
  }
  return { zone, keys: [...keys.values()] }
}

/** From the top: what follows the zone in a key. */
function randomName(random: Random): string[] {
  if (random.chance(0.15))
    return ['dns', random.pick(['ns', 'apex']), ...(random.chance(0.7) ? [random.pick(LABELS)] : [])]
  return Array.from({ length: random.between(random.chance(0.1) ? 0 : 1, 4) }, () => random.pick(LABELS))
}

function randomValue(random: Random, host: string, aliased: boolean, features: Features): string {
  const value: Record<string, unknown> = {}
  const hasText = random.chance(0.15)
  if (!random.chance(hasText ? 0.5 : 0)) value[random.chance(0.05) ? 'Host' : 'host'] = host
  if (hasText) value.text = randomText(random, features)
  if (features.empty && random.chance(0.3)) {
    delete value.host
    delete value.text
  }
  if (random.chance(0.4)) value.port = random.pick([0, 80, 443, 8080, -1])
  if (random.chance(0.3)) value.priority = random.pick([0, 1, 10, 20])
  if (random.chance(0.3)) value.weight = random.pick([0, 0, 1, 50, 100, 1000])
  if (features.ttls && random.chance(0.3)) value.ttl = random.pick([0, 5, 60, 3600])
  if ((!aliased || features.stripNames) && random.chance(0.3)) value.targetstrip = random.pick([1, 1, 2, 9])
  if (random.chance(0.2)) value.group = random.pick(['g1', 'g2', ''])
  if (random.chance(0.2)) value.mail = random.chance(0.9)
  if (random.chance(0.05)) value.unknown = { nested: [1, 2] }
  return JSON.stringify(value)
}

function randomText(random: Random, features: Features): string {
  if (random.chance(0.2)) return 'long '.repeat(random.between(51, 120))
  if (random.chance(0.1)) return 'x'.repeat(random.pick([254, 255, 256, 510]))
  return random.pick(['one', 'two', 'äö "quoted"', ...(features.backslashes ? ['C:\\', '\\065', 'tab\\t'] : [])])
}

function randomAddress(random: Random): string {
  return random.chance(0.6) ? `10.0.0.${random.between(1, 6)}` : random.pick(ADDRESSES_6)
}

function randomAlias(random: Random, zone: string, names: readonly (readonly string[])[]): string {
  if (random.chance(0.25)) return random.pick(OUTSIDE)
  const labels = random.chance(0.8) ? random.pick(names) : randomName(random)
  const name = [...labels.toReversed(), ...zone.split('.').filter((label) => label !== '')].join('.')
  return random.chance(0.1) ? `${name.toUpperCase()}.` : name
}

export function zoneLabels(zone: string): string[] {
  return zone
    .split('.')
    .filter((label) => label !== '')
    .toReversed()
}
