// All keys there are in a run, how often each kind is written to, and what can be asked about them.

import { TYPE } from '../../src/dns/types.ts'
import type { Random } from '../fuzz/random.ts'
import type { Write } from './history.ts'
import { groupQuestion, ServiceKey, type ServiceKind, SKYDNS_ORIGIN } from './service-key.ts'
import type { Question, StoredKey } from './stored-key.ts'
import type { Shown } from './subject.ts'
import type { WrittenKeys } from './writer.ts'
import { ZoneKey, type ZoneOptions } from './zone-key.ts'

interface Group {
  readonly name: string
  readonly members: readonly ServiceKey[]
}

export class World {
  readonly zones: readonly ZoneKey[]
  readonly services: readonly ServiceKey[]
  readonly groups: readonly Group[]
  /** 200 changes a second. */
  readonly kinds: readonly WrittenKeys[]

  /** `onFalse` is told of values that were shown although they were never stored. */
  constructor(onFalse: (key: StoredKey, write: Write) => void) {
    const zones = (count: number, options: Omit<ZoneOptions, 'origin' | 'counting'>, name: string) =>
      Array.from({ length: count }, (_, i) => {
        return new ZoneKey({ ...options, origin: `${name}${i}.test.`, counting: i % 2 === 0 }, onFalse)
      })
    const services = (count: number, kind: ServiceKind, name: string) =>
      Array.from({ length: count }, (_, i) => new ServiceKey([`${name}${i}`], kind, onFalse))
    const large = zones(1, { names: 3000, volatile: false }, 'large')
    const steadyZones = zones(8, { names: 60, volatile: false }, 'steady')
    const volatileZones = zones(12, { names: 12, volatile: true }, 'volatile')
    const plain = services(80, 'plain', 'p')
    // Written to so seldom that nothing covers up a change that got lost.
    const cold = services(600, 'plain', 'c')
    const steady = services(16, 'steady', 's')
    const leased = services(24, 'leased', 'l')
    this.groups = Array.from({ length: 10 }, (_, g) => ({
      name: `g${g}.${SKYDNS_ORIGIN}`,
      members: Array.from({ length: 5 }, (_, i) => new ServiceKey([`m${i}`, `g${g}`], 'plain', onFalse)),
    }))
    const members = this.groups.flatMap((group) => group.members)
    this.zones = [...large, ...steadyZones, ...volatileZones]
    this.services = [...plain, ...cold, ...steady, ...leased, ...members]
    this.kinds = [
      { keys: large, changesPerSecond: 2 },
      { keys: steadyZones, changesPerSecond: 13 },
      { keys: volatileZones, changesPerSecond: 25 },
      { keys: plain, changesPerSecond: 30 },
      { keys: cold, changesPerSecond: 60 },
      { keys: steady, changesPerSecond: 20 },
      { keys: leased, changesPerSecond: 20 },
      { keys: members, changesPerSecond: 30 },
    ]
  }

  /** Whoever looks now sees at least this. */
  stored(): Shown {
    return new Map([...this.zones, ...this.services].map((key: StoredKey) => [key, key.history.sure]))
  }

  zoneQuestion(random: Random): Question {
    const zone = random.pick(this.zones)
    return random.chance(0.1) ? zone.serialQuestion() : zone.question(random)
  }

  serviceQuestion(random: Random, mode: 'compatible' | 'exact'): Question {
    if (random.chance(0.05)) return this.#serialQuestion()
    if (mode === 'compatible' && random.chance(0.2)) {
      const { name, members } = random.pick(this.groups)
      return groupQuestion(name, members)
    }
    // A text beside a host is no TXT record in compatible mode.
    const isText = mode === 'exact' && random.chance(0.3)
    return random.pick(this.services).question(isText ? TYPE.TXT : TYPE.A)
  }

  #serialQuestion(): Question {
    const about = { name: SKYDNS_ORIGIN, type: TYPE.SOA, keys: [] }
    return { ...about, read: () => [], serialOf: { origin: SKYDNS_ORIGIN, key: undefined } }
  }
}
