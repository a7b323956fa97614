// Zone files at random, line by line from the grammar and then damaged. Whatever comes in: problems or records, never
// a throw. Read in pieces of any size it is the same file, and the records it has print as a file with the same records.

import { formatProblem, parseZoneFile } from '../../src/dns/zonefile/parse.ts'
import { formatRecord, textSource, type ZoneRecord } from '../../src/dns/zonefile/format.ts'
import { mutate } from './mutate.ts'
import { below, ROOT_KEY, wireOf } from './names.ts'
import { Random } from './random.ts'
import { RDATA_SAMPLES } from './rdata-samples.ts'
import { assert, hex, SALT, type Target } from './target.ts'

const ORIGIN = wireOf(below('example', ROOT_KEY))
const FILE = 'fuzz.zone'
/** A file that makes more, by $GENERATE, is left there: it is only slow. */
const MOST_RECORDS = 2000

class TooManyRecords extends Error {}

export class TextTarget implements Target {
  readonly name = 'text'
  readonly #seed: number

  constructor(seed: number) {
    this.#seed = seed
  }

  run(index: number): void {
    const random = new Random(this.#seed, SALT.text, index)
    const text = randomFile(random)
    try {
      check(random, text)
    } catch (error) {
      if (!(error instanceof TooManyRecords)) throw error
    }
  }

  describe(index: number): string {
    return Buffer.from(randomFile(new Random(this.#seed, SALT.text, index))).toString('latin1')
  }
}

interface Parsed {
  readonly records: ZoneRecord[]
  readonly problems: string[]
}

function check(random: Random, text: Uint8Array): void {
  const whole = parse(text, text.length)
  const pieces = parse(text, random.between(1, 40))
  assert(pieces.problems.join('\n') === whole.problems.join('\n'), 'other problems when read in pieces')
  assert(print(pieces.records) === print(whole.records), 'other records when read in pieces')
  const lines = whole.records.map(({ owner, ttl, type, rdata }) => `${formatRecord(owner, ttl, type, rdata)}\n`)
  const again = parse(Buffer.from(lines.join('')), text.length)
  assert(again.problems.length === 0, `what was printed does not read: ${again.problems[0]}\n${lines.join('')}`)
  assert(print(again.records) === print(whole.records), `other records when printed and read:\n${lines.join('')}`)
}

function parse(text: Uint8Array, pieceBytes: number): Parsed {
  const source = textSource(text)
  const records: ZoneRecord[] = []
  const inPieces = {
    read: (into: Uint8Array, at: number) => source.read(into.subarray(0, at + pieceBytes), at),
  }
  const openInclude = (path: string) => {
    if (path !== 'included') throw new Error('no such file')
    return textSource('inner A 192.0.2.7\n', path)
  }
  const problems = parseZoneFile(
    inPieces,
    { file: FILE, origin: ORIGIN, openInclude },
    {
      record(owner, ownerLength, type, _klass, ttl, rdata, rdataLength) {
        if (records.length === MOST_RECORDS) throw new TooManyRecords()
        records.push({ owner: owner.slice(0, ownerLength), ttl, type, rdata: rdata.slice(0, rdataLength) })
      },
    },
  )
  return { records, problems: problems.map(formatProblem) }
}

function print(records: readonly ZoneRecord[]): string {
  return records.map(({ owner, ttl, type, rdata }) => `${hex(owner)} ${ttl} ${type} ${hex(rdata)}`).join('\n')
}

function randomFile(random: Random): Uint8Array {
  if (random.chance(0.02)) return random.bytes(random.below(300))
  const lines = Array.from({ length: random.between(1, 8) }, () => randomLine(random))
  const head = random.chance(0.8) ? '$TTL 3600\n' : ''
  const text = Uint8Array.from(Buffer.from(head + lines.join(random.chance(0.9) ? '\n' : '\r\n'), 'latin1'))
  if (random.chance(0.5)) return text
  return mutate(random, text, Buffer.from(randomLine(random), 'latin1'))
}

const OWNERS = [
  '@',
  'a',
  'www',
  '*',
  'a.b',
  'c.example.',
  'a\\.b',
  '\\000',
  '\\@',
  'A',
  '\xe4',
  '*.w',
  'x'.repeat(63),
  '',
]
const DIRECTIVES = [
  '$ORIGIN sub',
  '$ORIGIN example.',
  '$ORIGIN .',
  '$TTL 1h',
  '$TTL 0',
  '$INCLUDE included',
  '$INCLUDE included sub',
  '$INCLUDE missing',
  '$GENERATE 1-5 h$ A 192.0.2.$',
  '$GENERATE 0-10/5 h${0,3,x} CNAME ${-1,2,d}.x',
  '$GENERATE 1-2 $.${0,4,n} TXT "a$$ \\$ ${5}"',
  '$UNKNOWN x',
]
const ODD_PIECES = [
  '(',
  ')',
  '"',
  ';',
  '\\',
  ' ',
  '\t',
  '\n',
  '\0',
  '\\#',
  '$',
  '.',
  '..',
  '\\032',
  '\\999',
  '\xff',
  '\ufeff',
  '65536',
  '-1',
]

function randomLine(random: Random): string {
  if (random.chance(0.15)) return random.pick(DIRECTIVES)
  if (random.chance(0.03)) return '; a comment ( "'
  const period = random.pick(['60 ', '1h30m ', '0 ', '2147483648 ', '', '', ''])
  const klass = random.pick(['IN ', 'in ', 'CLASS1 ', random.chance(0.1) ? 'CH ' : '', '', '', '', ''])
  const order = random.chance(0.5) ? period + klass : klass + period
  const words = random.pick(RDATA_SAMPLES).split(' ')
  if (random.chance(0.1)) words.splice(random.below(words.length), 1)
  if (random.chance(0.1)) words.splice(random.below(words.length + 1), 0, random.pick(ODD_PIECES))
  if (random.chance(0.1)) words.splice(random.between(0, words.length), 0, '(', '\n', '; inside )\n', ')')
  return `${random.pick(OWNERS)} ${order}${words.join(random.chance(0.9) ? ' ' : '\t ')}`
}
