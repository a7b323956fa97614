import { describe, expect, it } from 'vitest'
import { question } from '../../test/support/fault-server.ts'
import { LocalZones } from '../../test/support/local-answer.ts'
import type { Message } from '../dns/message.ts'
import { formatName } from '../dns/name.ts'
import { TYPE, typeName } from '../dns/types.ts'

const HEAD = '$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n'

function ask(text: string, name: string, type: number = TYPE.A, tcp = true): Message {
  const zones = new LocalZones()
  zones.add('example.', HEAD + text)
  const answer = zones.ask(question(name, type), undefined, tcp)
  if (typeof answer !== 'object') throw new Error('no answer')
  return answer
}

function additionals(text: string, name: string, type: number): string[] {
  return ask(text, name, type).additionals.map((record) => `${formatName(record.name)} ${typeName(record.type)}`)
}

describe('a large referral over TCP', () => {
  const servers = Array.from({ length: 1200 }, (_, i) => `server-${i}.del`)
  const text = servers.map((server, i) => `del NS ${server}\n${server} A 10.0.${i >> 8}.${i & 255}\n`).join('')

  it('has all of its glue, where names are too far away to be pointed at, too (RFC 9471)', () => {
    const answer = ask(text, 'x.del.example.')
    expect([answer.tc, answer.authorities.length]).toEqual([false, 1200])
    const glue = answer.additionals.map(({ name, rdata }) => `${formatName(name)} ${rdata.join('.')}`)
    expect(glue).toEqual(servers.map((server, i) => `${server}.example. 10.0.${i >> 8}.${i & 255}`))
  })

  it('is truncated when some of it does not fit', () => {
    const large = servers.map((server) => `${server} AAAA 2001:db8::1\n`).join('')
    expect(ask(text + large, 'x.del.example.').tc).toBe(true)
  })

  it('leaves out what is optional without being truncated', () => {
    const mail = servers.map((server, i) => `mx MX ${i} ${server}\n${server} A 10.0.${i >> 8}.${i & 255}\n`)
    const answer = ask(mail.join(''), 'mx.example.', TYPE.MX)
    expect([answer.tc, answer.answers.length]).toEqual([false, 1200])
    // Up to the end of the message, far beyond what pointers reach.
    expect(answer.additionals.length).toBeGreaterThan(1000)
    expect(answer.additionals.length).toBeLessThan(1200)
    const alone = ask(mail.join(''), 'mx.example.', TYPE.MX, false)
    expect([alone.tc, alone.answers.length]).toEqual([true, 0])
  })
})

describe('SVCB and HTTPS (RFC 9460 section 4.1)', () => {
  it('come with the addresses of their owner where it is the target', () => {
    const text = 'www HTTPS 1 . alpn=h2\nwww A 192.0.2.2\nwww AAAA 2001:db8::2\n'
    expect(additionals(text, 'www.example.', TYPE.HTTPS)).toEqual(['www.example. A', 'www.example. AAAA'])
  })

  it('come with those of the name asked for where a wildcard is the owner', () => {
    const text = '*.w HTTPS 1 .\n*.w A 192.0.2.2\n'
    expect(additionals(text, 'x.w.example.', TYPE.HTTPS)).toEqual(['x.w.example. A'])
  })

  it('come with the services of an alias and the addresses of those', () => {
    const text = '@ HTTPS 0 www\nwww HTTPS 1 pool\nwww A 192.0.2.2\nwww SVCB 1 .\npool AAAA 2001:db8::3\n'
    expect(additionals(text, 'example.', TYPE.HTTPS)).toEqual([
      'www.example. HTTPS',
      'pool.example. AAAA',
      'www.example. A',
    ])
  })

  it('ask for nothing where the service is not available', () => {
    expect(additionals('www HTTPS 0 .\nwww A 192.0.2.2\n', 'www.example.', TYPE.HTTPS)).toEqual([])
  })

  it('that lead in a circle are added once', () => {
    const text = 'a SVCB 0 b\nb SVCB 0 c\nc SVCB 0 a\na A 192.0.2.1\nb A 192.0.2.2\nc A 192.0.2.3\n'
    expect(additionals(text, 'a.example.', TYPE.SVCB).toSorted()).toEqual(
      ['a A', 'b A', 'b SVCB', 'c A', 'c SVCB'].map((line) => line.replace(' ', '.example. ')),
    )
  })

  it('are followed only so far', () => {
    const text = Array.from({ length: 20 }, (_, i) => `s${i} SVCB 0 s${i + 1}\n`).join('')
    expect(additionals(text, 's0.example.', TYPE.SVCB)).toHaveLength(4)
  })
})

describe('a set that no message can hold', () => {
  const many = Array.from({ length: 5000 }, (_, i) => `many A 10.0.${i >> 8}.${i & 255}\n`).join('')
  const large = `txt TXT${` "${'x'.repeat(255)}"`.repeat(255)}\n`

  it('is answered with TC, over TCP too', () => {
    for (const tcp of [false, true])
      expect(ask(many, 'many.example.', TYPE.A, tcp)).toMatchObject({ tc: true, aa: true, answers: [] })
    expect(ask(many, 'many.example.', TYPE.TXT)).toMatchObject({ tc: false, authorities: [{ type: TYPE.SOA }] })
    expect(ask(`${many}alias CNAME many\n`, 'alias.example.')).toMatchObject({ tc: true })
  })

  it('is left out of the additional section', () => {
    expect(ask(`${many}mx MX 10 many\n`, 'mx.example.', TYPE.MX)).toMatchObject({ tc: false, additionals: [] })
  })

  it('leaves the other records of the zone alone', () => {
    expect(ask(`${many}many AAAA 2001:db8::1\n`, 'many.example.', TYPE.AAAA).answers).toHaveLength(1)
    expect(ask(`${many}z A 192.0.2.9\n`, 'z.example.').answers).toHaveLength(1)
  })

  it('is one that is longer than that: a text of 65,280 bytes is answered over TCP', () => {
    const [record] = ask(large, 'txt.example.', TYPE.TXT).answers
    expect([formatName(record.name), record.rdata.length]).toEqual(['txt.example.', 65_280])
    expect(ask(large, 'txt.example.', TYPE.TXT, false)).toMatchObject({ tc: true, answers: [] })
  })
})
