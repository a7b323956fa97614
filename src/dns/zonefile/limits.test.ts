import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseName } from '../name.ts'
import { finish } from '../steps.ts'
import { textSource } from './format.ts'
import { generatedProblem, MAX_GENERATED, MAX_GENERATED_BYTES } from './limits.ts'
import { formatProblem, parseZoneFile, parseZoneFileSteps } from './parse.ts'

const ORIGIN = parseName('example.')
const OPTIONS = { file: 'db', origin: ORIGIN }

function read(text: string, options: { maxRecords?: number } = {}): { records: number; problems: string[] } {
  let records = 0
  const problems = parseZoneFile(textSource(text), { ...OPTIONS, ...options }, { record: () => records++ })
  return { records, problems: problems.map(formatProblem) }
}

describe('$GENERATE', () => {
  test('makes no more than its share in one zone, however many there are', () => {
    const lines = Array.from({ length: 60 }, (_, i) => `$GENERATE 0-99999 h$-${i} 60 A 192.0.2.1\n`)
    const { records, problems } = read(lines.join(''))
    expect(records).toBe(MAX_GENERATED)
    expect(problems).toEqual([
      `db:11:11: "0-99999": too many records: expected at most ${MAX_GENERATED} from all $GENERATE of a zone together`,
    ])
  }, 120_000)

  test('that is too much is found without making anything', () => {
    const find = (text: string) => finish(generatedProblem(Buffer.from(text), 'db'))
    const bomb = Array.from({ length: 60 }, (_, i) => `$generate 0-999999 h$-${i} A 192.0.2.1\n`).join('')
    expect(find(bomb)).toMatchObject({ line: 2, column: 11, token: '0-999999', severity: 'error' })
    expect(find(`$GENERATE 1-999999 h$ A 192.0.2.1\n`)).toBeUndefined()
    expect(find(`$GENERATE 0-999999/2 h$ A 192.0.2.1\n$GENERATE 0-999999/2 i$ A 192.0.2.1\n`)).toBeUndefined()
    const large = `$GENERATE 0-999999 h$ TXT ${'"${0,255}" '.repeat(250)}\n`
    expect(find(large)).toMatchObject({ line: 1, column: 11, message: expect.stringContaining('too many bytes') })
    expect(find(`a TXT "$GENERATE 0-999999 b"\n`.repeat(9))).toBeUndefined()
    expect(find(` $GENERATE 0-999999 a\n(\n$GENERATE 0-999999 a)\n$GENERATE\n`)).toBeUndefined()
  })

  test('makes no more bytes than its share, however short its lines are', () => {
    // Each "a" is a name of nearly 250 bytes.
    const origin = parseName(`${'o'.repeat(60)}.`.repeat(4))
    const text = `$GENERATE 1-99999 h 60 HIP 2 200100107B1A74DF365639CC39F1D578 AwEA ${'a '.repeat(200)}\n`
    let bytes = 0
    const sink = { record: (...record: unknown[]) => void (bytes += Number(record[6])) }
    const problems = parseZoneFile(textSource(text), { file: 'db', origin }, sink)
    expect(problems).toMatchObject([{ line: 1, message: expect.stringContaining('too many bytes') }])
    expect(bytes).toBeLessThan(MAX_GENERATED_BYTES + 100_000)
  }, 120_000)

  test('of large records takes steps that are no longer than those of small ones', () => {
    const text = `$GENERATE 1-100 h$ 60 TXT ${'"${0,255}" '.repeat(250)}\n`
    let bytes = 0
    const sink = { record: (...record: unknown[]) => void (bytes += Number(record[6])) }
    const steps = parseZoneFileSteps(textSource(text), OPTIONS, sink)
    for (let before = 0; steps.next().done !== true; before = bytes) expect(bytes - before).toBeLessThan(300_000)
    expect(bytes).toBe(100 * 250 * 256)
  })
})

describe('records of a zone', () => {
  test('are counted, with those that are generated, and the rest is not read', () => {
    const text = 'a 60 A 192.0.2.1\n$GENERATE 1-3 b$ 60 A 192.0.2.$\nc 60 A 192.0.2.2\nd 60 A nowhere\n'
    expect(read(text, { maxRecords: 5 }).problems).toEqual([expect.stringContaining('db:4:8: "nowhere"')])
    expect(read(text, { maxRecords: 4 })).toEqual({
      records: 4,
      problems: ['db:3:1: "c": too many records: expected at most 4 in this zone'],
    })
    expect(read(text, { maxRecords: 2 })).toEqual({
      records: 2,
      problems: ['db:2:1: "$GENERATE": too many records: expected at most 2 in this zone'],
    })
  })

  test('are the same in steps, however far they are taken at a time', () => {
    const entry = fc.constantFrom(
      'a 60 A 192.0.2.1',
      '$GENERATE 1-700 b$ 60 A 192.0.2.1',
      'c A nowhere',
      '$TTL 5',
      'd A 192.0.2.9',
    )
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 600 }), fc.option(fc.integer({ min: 1, max: 2000 })), (lines, most) => {
        const text = lines.join('\n')
        const options = { ...OPTIONS, ...(most !== null && { maxRecords: most }) }
        const records: string[][] = [[], []]
        const sink = (into: string[]) => ({
          record: (owner: Uint8Array, length: number, type: number) => {
            into.push(`${Buffer.from(owner.subarray(0, length)).toString('latin1')} ${type}`)
          },
        })
        const atOnce = parseZoneFile(textSource(text), options, sink(records[0]))
        const steps = parseZoneFileSteps(textSource(text), options, sink(records[1]))
        let previous = 0
        for (;;) {
          const { done, value } = steps.next()
          expect(records[1].length - previous).toBeLessThanOrEqual(512)
          previous = records[1].length
          if (done === true) {
            expect(value).toEqual(atOnce)
            break
          }
        }
        expect(records[1]).toEqual(records[0])
      }),
      { numRuns: 30 },
    )
  }, 120_000)
})
