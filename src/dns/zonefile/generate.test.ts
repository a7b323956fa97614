import { describe, expect, it } from 'vitest'
import { parseName } from '../name.ts'
import { formatRecord, textSource } from './format.ts'
import { formatProblem, parseZoneFile } from './parse.ts'

function generate(text: string): { records: string[]; problems: string[] } {
  const records: string[] = []
  const problems = parseZoneFile(
    textSource(`$TTL 60\n${text}\n`),
    { file: 'db', origin: parseName('example.') },
    {
      record(owner, ownerLength, type, _klass, ttl, rdata, rdataLength, line) {
        expect(line).toBe(2)
        records.push(formatRecord(owner.slice(0, ownerLength), ttl, type, rdata.slice(0, rdataLength)))
      },
    },
  )
  return { records, problems: problems.map(formatProblem) }
}

describe('$GENERATE', () => {
  it.each([
    [
      '1-3 h$ A 192.0.2.$',
      ['h1.example. 60 IN A 192.0.2.1', 'h2.example. 60 IN A 192.0.2.2', 'h3.example. 60 IN A 192.0.2.3'],
    ],
    [
      '1-4/2 h${10,5,o} IN 5 CNAME x${0,3,X}',
      ['h00013.example. 5 IN CNAME x001.example.', 'h00015.example. 5 IN CNAME x003.example.'],
    ],
    ['10-10 h${0,4,x}-${0,0,X} A 192.0.2.1', ['h000a-A.example. 60 IN A 192.0.2.1']],
    ['1-2 a${-2,3} A 192.0.2.$', ['a-01.example. 60 IN A 192.0.2.1', 'a000.example. 60 IN A 192.0.2.2']],
    ['1-1 h${-3,1,x} A 192.0.2.1', ['hfffffffe.example. 60 IN A 192.0.2.1']],
    ['15-16 ${0,3,n}x CNAME x', ['f.0x.example. 60 IN CNAME x.example.', '0.1x.example. 60 IN CNAME x.example.']],
    ['300-300 ${0,1,N}x CNAME x', ['C.2.1x.example. 60 IN CNAME x.example.']],
    ['1-1 h\\$$ A 192.0.2.$', ['h\\$1.example. 60 IN A 192.0.2.1']],
    ['1-1 h$$ A 192.0.2.$', ['h\\$.example. 60 IN A 192.0.2.1']],
    ['1-1 h 60 MX "10 m$"', ['h.example. 60 IN MX 10 m1.example.']],
    ['1-1 h TXT "a $"', ['h.example. 60 IN TXT "a" "1"']],
    ['1-1 h MX 10 m$ ; comment', ['h.example. 60 IN MX 10 m1.example.']],
    ['1-1 @ A 192.0.2.$', ['example. 60 IN A 192.0.2.1']],
  ])('%s gives %j', (text, records) => {
    expect(generate(`$GENERATE ${text}`)).toEqual({ records, problems: [] })
  })

  it.each([
    ['', 'db:2:10: expected a range, such as 1-100, found the end of the entry'],
    ['3-1 h$ A 192.0.2.$', 'db:2:11: "3-1": expected a range start-stop or start-stop/step, 0 to 2147483647'],
    ['1-3/0 h$ A 192.0.2.$', 'db:2:11: "1-3/0": expected a range start-stop or start-stop/step, 0 to 2147483647'],
    ['1-x h$ A 192.0.2.$', 'db:2:11: "1-x": expected a range start-stop or start-stop/step, 0 to 2147483647'],
    ['1-1000001 h$ A 192.0.2.1', 'db:2:11: "1-1000001": expected at most 1000000 records'],
    ['1-2', 'db:2:14: expected an owner template, found the end of the entry'],
    ['1-2 h$', 'db:2:17: expected a type and a data template, found the end of the entry'],
    ['1-2 h${0,3 A 192.0.2.1', 'db:2:15: "h${0,3": expected "}" after "${"'],
    ['0-7 host$ A 1.2.3.${1000', 'db:2:23: "1.2.3.${1000": expected "}" after "${"'],
    [
      '1-2 h${2147483647} A 192.0.2.1',
      'db:2:15: "h${2147483647}": expected numbers of at most 2147483647 after the offset is added',
    ],
    [
      '1-2 h${0,3,q} A 192.0.2.1',
      'db:2:15: "h${0,3,q}": expected ${offset[,width[,base]]} with a base of d, o, x, X, n or N',
    ],
    [
      '1-2 h$ A 1.2.$',
      'db:2:1: "$GENERATE": in the generated line "h1 A 1.2.1": expected an IPv4 address, such as 192.0.2.1',
    ],
  ])('%s is refused: %s', (text, problem) => {
    expect(generate(`$GENERATE ${text}`)).toEqual({ records: [], problems: [problem] })
  })

  it('reports warnings where the directive stands', () => {
    expect(generate('$GENERATE 1-1 h$ 3000000000 A 192.0.2.$').problems).toEqual([
      'db:2:1: warning: "3000000000": expected a TTL of at most 2147483647; taken as 0',
    ])
  })

  it('stops at the first line that is no record', () => {
    const { records, problems } = generate('$GENERATE 250-300 h$ A 192.0.2.$')
    expect(records).toHaveLength(6)
    expect(problems).toHaveLength(1)
  })
})
