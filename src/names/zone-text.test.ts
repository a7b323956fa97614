import { describe, expect, it } from 'vitest'
import { finish } from '../dns/steps.ts'
import { dump, FollowedText, OPTIONS } from '../../test/support/followed-text.ts'

const HEAD = '$TTL 1h\n@ SOA ns.elsewhere. hostmaster 7 2h 30m 2w 5m\n@ NS ns.elsewhere.\n'
const BARE_HEAD = HEAD.replace('$TTL 1h\n@ SOA', '@ 60 SOA')

/** A text that is accepted. */
function load(text: string): FollowedText {
  const followed = FollowedText.load(Buffer.from(text))
  if (followed === undefined) throw new Error(`refused: ${text}`)
  return followed
}

const hosts = (count: number) => Array.from({ length: count }, (_, i) => `host${i} A 198.51.100.${i % 250}`)

describe('a new version of a zone text', () => {
  it('touches the names whose records changed, and no others', () => {
    const cases: [before: string, after: string, touched: string[]][] = [
      ['a A 192.0.2.1\nb A 192.0.2.2\n', 'a A 192.0.2.1\nb A 192.0.2.3\n', ['b.example.']],
      ['a A 192.0.2.1\nb A 192.0.2.2\n', 'b A 192.0.2.2\n', ['a.example.']],
      ['a A 192.0.2.1\n', 'b A 192.0.2.2\na A 192.0.2.1\n', ['b.example.']],
      ['a A 192.0.2.1\n', '; a comment\n\na   IN A 192.0.2.1\n', []],
      ['a A 192.0.2.1\n  AAAA ::1\n', 'b A 192.0.2.1\n  AAAA ::1\n', ['a.example.', 'b.example.']],
      ['a A 192.0.2.1\n  AAAA ::1\n', 'a AAAA ::1\n', ['a.example.']],
      ['a A 192.0.2.1\n', 'a 60 A 192.0.2.1\n', ['a.example.']],
      ['a TXT (\n"x"\n"y" )\nb A 192.0.2.1', 'a TXT (\n"x"\n"z" )\nb A 192.0.2.1', ['a.example.']],
      ['$ORIGIN sub\na A 192.0.2.1\nb AAAA ::1', '$ORIGIN sub\na A 192.0.2.2\nb AAAA ::1', ['a.sub.example.']],
      ['a A 192.0.2.1\n$TTL 5\nb A 192.0.2.1\n', 'a A 192.0.2.1\n$TTL 6\nb A 192.0.2.1\n', ['b.example.']],
      ['a MX 1 a\nA MX 2 b\nb MX 3 c\n', 'a MX 1 a\nA MX 2 b\nb MX 4 c\n', ['b.example.']],
    ]
    for (const [before, after, touched] of cases) {
      const change = load(HEAD + before).update(Buffer.from(HEAD + after))
      expect(change.touched, after).toEqual(touched)
    }
  })

  it('is read where it differs, however many places that is', () => {
    const lines = hosts(600)
    const written = (serial: number) => `${HEAD.replace(' 7 ', ` ${serial} `)}${lines.join('\n')}\n`
    const text = load(written(7))
    for (let serial = 8; serial < 16; serial++) {
      lines[(serial * 977) % lines.length] = `host${serial * 977} A 203.0.113.${serial}`
      lines.splice((serial * 1231) % lines.length, serial % 3, `new${serial} A 203.0.113.1`)
      const { how, touched, differing } = text.update(Buffer.from(written(serial)))
      expect(how).toBe('edited')
      expect(touched).toEqual(differing)
    }
  })

  it('is read as a whole when most of it is new, and touches no more for that', () => {
    const lines = hosts(600)
    const text = load(`${HEAD}${lines.join('\n')}\n`)
    const aligned = lines.map((line) => line.replace(' ', '      '))
    aligned[300] = 'host300 A 203.0.113.1'
    expect(text.update(Buffer.from(`${HEAD}${aligned.join('\n')}\n`))).toMatchObject({
      how: 'read',
      touched: ['host300.example.'],
    })
    const others = lines.map((line) => line.replace('host', 'other'))
    expect(text.update(Buffer.from(`${HEAD}${others.join('\n')}\n`))).toMatchObject({ how: 'read', touched: undefined })
  })

  it('takes the owner of a line without one from the line before, as far as that goes', () => {
    const text = load(
      `${HEAD}first-owner A 192.0.2.1\n            A 192.0.2.2\nother A 192.0.2.3\nother A 192.0.2.4\nc A 192.0.2.5\n`,
    )
    const { how } = text.update(
      Buffer.from(`${HEAD}other-owner A 192.0.2.1\n            A 192.0.2.2\nother A 192.0.2.9\nc A 192.0.2.5\n`),
    )
    expect(how).toBe('edited')
    text.update(Buffer.from(`${HEAD}; nobody\n            A 192.0.2.2\nother A 192.0.2.9\nc A 192.0.2.5\n`))
  })

  it('takes a TTL from the records before, as far as that goes', () => {
    const written = (ttl: string) => `${BARE_HEAD}a ${ttl} A 192.0.2.1\nb A 192.0.2.1\nc 5 A 192.0.2.1\nd A 192.0.2.1\n`
    const { how, touched } = load(written('')).update(Buffer.from(written('61')))
    expect({ how, touched }).toEqual({ how: 'edited', touched: ['a.example.', 'b.example.'] })
  })

  it('is read with what directives said before, wherever they have moved to', () => {
    const text = load(`${HEAD}a A 192.0.2.1\nlonger-name A 192.0.2.1\n$ORIGIN sub\nb A 192.0.2.1\n`)
    text.update(Buffer.from(`${HEAD}a A 192.0.2.1\n$ORIGIN sub\nb A 192.0.2.1\n`))
    const { how, touched } = text.update(Buffer.from(`${HEAD}a A 192.0.2.1\n$ORIGIN sub\nb A 192.0.2.2\n`))
    expect({ how, touched }).toEqual({ how: 'edited', touched: ['b.sub.example.'] })
  })

  it('may end without a newline, and go on there', () => {
    const text = load(`${HEAD}a A 192.0.2.1\n; the end of the text, for now`)
    text.update(Buffer.from(`${HEAD}a A 192.0.2.2\n; the end of the text, for now\nb A 192.0.2.3`))
    text.update(Buffer.from(`${HEAD}a A 192.0.2.2\n; the end of the text, for now\nb A 192.0.2.34`))
    text.update(Buffer.from(`${HEAD}a A 192.0.2.2\n; the end of the text, for now\nb A 192.0.2.34\n  TXT x`))
    text.update(Buffer.from(''))
    expect(text.text.builder.recordCount).toBe(5)
  })

  it('may begin with a byte order mark', () => {
    const text = load(`${HEAD}a A 192.0.2.1\n`)
    expect(text.update(Buffer.from(`\ufeff${HEAD}a A 192.0.2.1\n`))).toMatchObject({ how: 'edited', touched: [] })
    expect(text.update(Buffer.from(`\ufeff\n${HEAD}a A 192.0.2.1\n`))).toMatchObject({ how: 'edited', touched: [] })
    expect(text.update(Buffer.from(`${HEAD}a A 192.0.2.1\n`))).toMatchObject({ how: 'edited', touched: [] })
  })

  it('names an owner in messages as the text does first', () => {
    const text = load(`${HEAD}x MX 1 a\nX 60 A 192.0.2.2\nX 61 A 192.0.2.3\n`)
    const { problems } = text.update(Buffer.from(`${HEAD}X 60 A 192.0.2.2\nX 61 A 192.0.2.3\n`))
    expect(problems[0].message).toContain('of X.example. A')
  })

  it('has the warnings of all of it, also when there are more than are kept', () => {
    const lines = Array.from({ length: 25 }, (_, i) => `a${i} 4294967295 A 192.0.2.1`)
    const text = load(`${HEAD}${lines.join('\n')}\n`)
    expect(text.update(Buffer.from(`${HEAD}${lines.slice(3).join('\n')}\n`)).problems).toHaveLength(20)
    expect(text.update(Buffer.from(`${HEAD}${lines.slice(20).join('\n')}\n`)).problems).toHaveLength(5)
    expect(text.update(Buffer.from(`${HEAD}\n${lines.slice(19).join('\n')}\n`)).problems).toHaveLength(6)
  })

  it('takes no more memory however often it changes, also when it is refused', () => {
    const version = (n: number) => {
      const lines = hosts(100)
      lines[n % lines.length] = `host-${n} A 192.0.2.1`
      return `${HEAD}${lines.toSpliced(n % 90, n % 7).join('\n')}\n`
    }
    const { text } = load(version(0))
    const update = (version: string) => finish(text.update(Buffer.from(version), OPTIONS)).accepted
    const sizes = Array.from({ length: 3000 }, (_, n) => {
      expect(update(version(n))).toBe(true)
      const bytes = text.bytes - version(n).length
      expect(update(`${version(n)}x${n} CNAME a\nx${n} A 192.0.2.1\n`)).toBe(false)
      return bytes
    })
    expect(Math.max(...sizes.slice(2000))).toBeLessThan(1.05 * Math.max(...sizes.slice(0, 1000)))
    expect(dump(text.builder)).toEqual(dump(load(version(2999)).text.builder))
  })
})
