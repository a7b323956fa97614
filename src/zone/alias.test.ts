import { describe, expect, it } from 'vitest'
import { question } from '../../test/support/fault-server.ts'
import { LocalZones } from '../../test/support/local-answer.ts'
import { formatName } from '../dns/name.ts'
import { formatRdata } from '../dns/rdata/rdata.ts'
import { RCODE, TYPE, typeName } from '../dns/types.ts'

/** With it twice in an answer, nothing else would fit into 512 bytes. */
const FAR = Array.from({ length: 4 }, () => 'x'.repeat(52)).join('.')

const zones = new LocalZones()
zones.add(
  'example.',
  `$TTL 60
@ SOA ns h 1 2 3 4 5
@ NS ns
ns A 192.0.2.1
moved DNAME target
q.target CNAME r.moved
r.target A 192.0.2.2
self CNAME self
a CNAME b
b CNAME a
*.wild CNAME x.wild
circle DNAME circle
there DNAME back
back DNAME there
longer DNAME longer.longer
far DNAME ${FAR}
`,
)

function answers(name: string): string[] {
  const answer = zones.ask(question(name))
  if (typeof answer !== 'object') throw new Error('no answer')
  const short = (text: string) => text.replaceAll('.example.', '')
  return answer.answers.map((record) =>
    short(`${formatName(record.name)} ${typeName(record.type)} ${formatRdata(record.type, record.rdata)}`),
  )
}

describe('aliases', () => {
  it('lead through one DNAME twice, which is in the answer once', () => {
    expect(answers('q.moved.example.')).toEqual([
      'moved DNAME target',
      'q.moved CNAME q.target',
      'q.target CNAME r.moved',
      'r.moved CNAME r.target',
      'r.target A 192.0.2.2',
    ])
  })

  it('point at the target of the DNAME that made them', () => {
    const answer = zones.ask(question('nx.far.example.'), undefined, false)
    expect(answer).toMatchObject({ tc: false, rcode: RCODE.NXDOMAIN, authorities: [{ type: TYPE.SOA }] })
    expect(answers('nx.far.example.')).toEqual([`far DNAME ${FAR}`, `nx.far CNAME nx.${FAR}`])
  })

  it('end where a name comes again', () => {
    expect(answers('self.example.')).toEqual(['self CNAME self'])
    expect(answers('a.example.')).toEqual(['a CNAME b', 'b CNAME a'])
    expect(answers('x.circle.example.')).toEqual(['circle DNAME circle', 'x.circle CNAME x.circle'])
    expect(answers('x.there.example.')).toEqual([
      'there DNAME back',
      'x.there CNAME x.back',
      'back DNAME there',
      'x.back CNAME x.there',
    ])
  })

  it('of a wildcard lead to a name of the same wildcard, as with NSD, Knot and BIND', () => {
    expect(answers('a.wild.example.')).toEqual(['a.wild CNAME x.wild', 'x.wild CNAME x.wild'])
    expect(answers('X.WILD.example.').map((line) => line.toLowerCase())).toEqual(['x.wild cname x.wild'])
  })

  it('are followed only so far', () => {
    expect(answers('x.longer.example.').filter((line) => line.includes(typeName(TYPE.CNAME)))).toHaveLength(16)
  })
})
