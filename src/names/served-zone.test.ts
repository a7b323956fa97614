import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { Random } from '../../test/fuzz/random.ts'
import { question } from '../../test/support/fault-server.ts'
import { LocalZones } from '../../test/support/local-answer.ts'
import { LocalCatalog, type LocalPart } from '../../test/support/local-catalog.ts'
import { TYPE } from '../dns/types.ts'

const ORIGIN = 'example.test.'
const TYPES = [TYPE.A, TYPE.TXT, TYPE.MX, TYPE.CNAME, TYPE.NS, TYPE.DNAME, TYPE.SOA, TYPE.ANY]

/** Lines of a zone file that change at random, a few at a time. */
class ChangingZone {
  readonly #random: Random
  readonly names: readonly string[]
  /** Records by name: of one kind each, so that every state is a good zone. */
  readonly #lines = new Map<string, string[]>()
  #serial = 1

  constructor(random: Random, names: readonly string[]) {
    this.#random = random
    this.names = names
    for (const name of names) this.#change(name)
  }

  step(): void {
    this.#serial++
    for (let i = this.#random.between(1, 4); i > 0; i--) this.#change(this.#random.pick(this.names))
  }

  text(): string {
    const lines = Array.from(this.#lines.values()).flat()
    return ['$TTL 300', `@ SOA ns hostmaster ${this.#serial} 3600 600 86400 60`, '@ NS ns', ...lines, ''].join('\n')
  }

  #change(name: string): void {
    const random = this.#random
    const target = random.pick(this.names)
    const kinds = [
      [],
      [`${name} A 192.0.2.${random.below(256)}`, `${name} A 198.51.100.${random.below(256)}`],
      [`${name} A 192.0.2.${random.below(256)}`, `${name} TXT "${random.next()}"`],
      [`${name} CNAME ${target}`],
      [`${name} MX 10 ${target}`, `${name} MX 20 mail.elsewhere.test.`],
      name.startsWith('*') ? [] : [`${name} NS ns.${name}`],
      [`${name} DNAME elsewhere.test.`],
    ]
    const [lines] = [random.chance(0.8) ? kinds[random.below(5)] : random.pick(kinds)]
    if (lines.length === 0) this.#lines.delete(name)
    else this.#lines.set(name, lines)
  }
}

/** Few labels, so that names lie above and below each other. */
function someNames(count: number): string[] {
  const names = new Set<string>()
  for (let i = 0; names.size < count; i++) {
    names.add(`n${i}`)
    if (i % 3 === 0) names.add(`a.n${i}`)
    if (i % 5 === 0) names.add(`*.n${i}`)
    if (i % 7 === 0) names.add(`x.y.n${i}`)
  }
  return [...names]
}

/** Everything the zone says, but for the order of records that means nothing. */
function answersOf(zones: LocalZones, names: readonly string[]): Map<string, unknown> {
  const answers = new Map<string, unknown>()
  for (const name of ['', ...names.flatMap((each) => [`${each}.`, `below.${each}.`])])
    for (const type of TYPES) {
      const message = zones.ask(question(name + ORIGIN, type))
      if (typeof message !== 'object') throw new Error(`${name}: ${message}`)
      answers.set(`${name} ${type}`, { ...message, id: 0 })
    }
  return answers
}

function fresh(text: string): LocalZones {
  const zones = new LocalZones()
  zones.add(ORIGIN, text)
  return zones
}

test('a large text that changes line by line is answered from as if it had been read as a whole', () => {
  const random = new Random(1)
  const zone = new ChangingZone(random, someNames(700))
  const local = new LocalCatalog()
  const texts = local.texts(0)
  texts.put('example.test', zone.text())
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 20; i++) {
      zone.step()
      texts.put('example.test', zone.text())
      expect(local.reports.filter(({ kind }) => kind === 'refused')).toEqual([])
    }
    const [patched, compiled] = [local.zones, fresh(zone.text())].map((zones) =>
      answersOf(zones, zone.names.slice(0, 120)),
    )
    for (const [asked, answer] of compiled)
      if (!isDeepStrictEqual(patched.get(asked), answer)) expect([asked, patched.get(asked)]).toEqual([asked, answer])
    expect(patched.size).toBe(compiled.size)
  }
})

test('names of two parts and a text that change at random are always those of the first source that has them', () => {
  const random = new Random(2)
  const local = new LocalCatalog()
  const names = someNames(20).filter((name) => !name.startsWith('*'))
  // By rank; the text stands between the parts.
  const content = [new Map<string, string>(), new Map<string, string>(), new Map<string, string>()]
  const parts = new Map<number, LocalPart>([0, 2].map((rank) => [rank, local.part(rank, ORIGIN)]))
  const texts = local.texts(1)
  let serial = 0
  const putText = () => {
    const lines = Array.from(content[1], ([name, address]) => `${name} A ${address}`)
    const soa = `@ 300 SOA ns hostmaster ${++serial} 3600 600 86400 60`
    texts.put('example.test', [soa, '@ 300 NS ns.elsewhere.test.', ...lines, ''].join('\n'))
  }
  putText()
  for (let round = 0; round < 300; round++) {
    const rank = random.below(3)
    const changes: Record<string, string[]> = {}
    for (let i = random.between(1, 3); i > 0; i--) {
      const name = random.pick(names)
      const address = `10.${rank}.${random.below(256)}.${random.below(256)}`
      if (random.chance(0.5)) content[rank].delete(name)
      else content[rank].set(name, address)
      changes[`${name}.${ORIGIN}`] = content[rank].has(name) ? [`A ${address}`] : []
    }
    if (rank === 1) putText()
    else parts.get(rank)?.set(changes)
    for (const name of names) {
      const expected = content.find((each) => each.has(name))?.get(name)
      const answer = local.ask(`${name}.${ORIGIN}`)
      if (expected === undefined) expect(['NXDOMAIN', 'NOERROR']).toContain(answer)
      else expect([name, answer]).toEqual([name, expected])
    }
  }
})
