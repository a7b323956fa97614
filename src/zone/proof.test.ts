import { describe, expect, it } from 'vitest'
import { question } from '../../test/support/fault-server.ts'
import { type ChainOptions, type HashedZone, hashedZone } from '../../test/support/hashed-zone.ts'
import { LocalZones } from '../../test/support/local-answer.ts'
import { formatName, lowerName } from '../dns/name.ts'
import { RCODE, TYPE } from '../dns/types.ts'

const DO = { edns: { udpBytes: 4096, version: 0, do: true, options: [] } }
/** `ent` and `deep.ent` exist only because of a delegation without DS, which opt-out leaves out of the chain. */
const RECORDS = 'cut.deep.ent NS ns.elsewhere.\nwww A 192.0.2.2\n'
const CHAIN = ['example.', 'ns.example.', 'www.example.']

function proofOf(zone: HashedZone, name: string, type: number = TYPE.A): { rcode: number; owners: string[] } {
  const zones = new LocalZones()
  zones.add('example.', zone.text)
  const answer = zones.ask(question(name, type, DO))
  if (typeof answer !== 'object') throw new Error(`no answer for ${name}`)
  const proofs = answer.authorities.filter((record) => record.type === TYPE.NSEC3 || record.type === TYPE.NSEC)
  const owners = proofs.map((record) => formatName(lowerName(record.name)))
  return { rcode: answer.rcode, owners: owners.map((owner) => zone.names.get(owner) ?? owner) }
}

function optOut(options: ChainOptions = {}, names: readonly string[] = CHAIN): HashedZone {
  return hashedZone(RECORDS, names, options)
}

describe('the proof that a name does not exist', () => {
  it.each(['x.ent.example.', 'x.deep.ent.example.', 'a.b.deep.ent.example.'])(
    'begins at the closest encloser with an NSEC3, for %s below what opt-out left out',
    (name) => {
      const { rcode, owners } = proofOf(optOut(), name)
      expect(rcode).toBe(RCODE.NXDOMAIN)
      // The one that matches is the apex; the others cover `ent` and the wildcard.
      expect(owners[0]).toBe('example.')
      expect(owners.length).toBeGreaterThan(1)
    },
  )

  it('is the same for a name below an empty non-terminal as for one next to it', () => {
    const zone = optOut()
    expect(proofOf(zone, 'x.ent.example.').owners).toEqual(proofOf(zone, 'x.deep.ent.example.').owners)
  })

  it('begins at the closest encloser when it has an NSEC3', () => {
    const zone = optOut({}, [...CHAIN, 'ent.example.'])
    expect(proofOf(zone, 'x.ent.example.').owners[0]).toBe('ent.example.')
  })
})

describe('of several NSEC3PARAM', () => {
  const good = proofOf(optOut(), 'nx.example.')

  it.each([
    ['one without a chain', '1 0 7 1234'],
    ['one with an unknown hash', '6 0 5 AABBCC'],
    ['one with flags', '1 1 0 -'],
    ['one with flags and other parameters', '1 128 5 AABBCC'],
    ['one with more iterations than validators accept', '1 0 2000 AABBCC'],
  ])('%s does not count, first or last', (_, parameters) => {
    expect(good.owners[0]).toBe('example.')
    expect(proofOf(optOut({ parameters: [parameters, '1 0 0 -'] }), 'nx.example.')).toEqual(good)
    expect(proofOf(optOut({ parameters: ['1 0 0 -', parameters] }), 'nx.example.')).toEqual(good)
  })

  it('one with flags does not count even if it is the only one (RFC 5155 section 4.1.2)', () => {
    const zone = optOut({ parameters: ['1 1 0 -'] })
    expect(proofOf(zone, 'nx.example.')).toEqual({ rcode: RCODE.NXDOMAIN, owners: [] })
  })

  it('the one whose chain has the apex is chosen over one that is being built', () => {
    const other = 'p9mhaveqvm6t7vbl5lop2u3t2rp3tom0 NSEC3 1 0 3 AB p9mhaveqvm6t7vbl5lop2u3t2rp3tom0 A\n'
    const zone = hashedZone(RECORDS + other, CHAIN, { parameters: ['1 0 3 AB', '1 0 0 -'] })
    expect(proofOf(zone, 'nx.example.')).toEqual(good)
  })
})

describe('a chain without signatures', () => {
  it('of NSEC3 is not served as a proof', () => {
    expect(proofOf(optOut({ isSigned: false }), 'nx.example.').owners).toEqual([])
  })

  it('of NSEC is not served as a proof, but can be asked for', () => {
    const text =
      '$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n@ NSEC ns SOA NS NSEC\nns NSEC @ A NSEC\nsub NS ns\n'
    const zone = { text, names: new Map() }
    expect(proofOf(zone, 'nx.example.')).toEqual({ rcode: RCODE.NXDOMAIN, owners: [] })
    expect(proofOf(zone, 'ns.example.', TYPE.TXT).owners).toEqual([])
    expect(proofOf(zone, 'x.sub.example.').owners).toEqual([])
    const zones = new LocalZones()
    zones.add('example.', text)
    expect(zones.ask(question('ns.example.', TYPE.NSEC, DO))).toMatchObject({ answers: [{ type: TYPE.NSEC }] })
  })
})
