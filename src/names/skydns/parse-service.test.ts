import { describe, expect, it } from 'vitest'
import { TYPE } from '../../dns/types.ts'
import { parseService } from './parse-service.ts'

const parse = (text: string) => parseService(Buffer.from(text))

describe('a value', () => {
  it('has defaults for what is not given', () => {
    expect(parse('{"host":"192.0.2.1"}')).toEqual({
      kind: TYPE.A,
      host: '\xc0\0\x02\x01',
      text: '',
      mail: false,
      port: 0,
      priority: 10,
      weight: 0,
      ttl: 0,
      targetStrip: 0,
      keyLabels: 0,
      group: '',
    })
  })

  it('is read as CoreDNS reads it: names in any letter case, the last counts, unknown ones and null do not', () => {
    const value = '{"Host":"a.test","PORT":80,"port":81,"weight":null,"owner":{"x":1},"mail":true,"TargetStrip":2}'
    expect(parse(value)).toMatchObject({ kind: TYPE.CNAME, port: 81, weight: 0, mail: true, targetStrip: 2 })
  })

  it.each([
    ['::1', TYPE.AAAA, '\0'.repeat(15) + '\x01'],
    ['::ffff:192.0.2.1', TYPE.A, '\xc0\0\x02\x01'],
    ['www.Example.org', TYPE.CNAME, '\x03www\x07Example\x03org\0'],
    ['www.example.org.', TYPE.CNAME, '\x03www\x07example\x03org\0'],
    ['192.0.2.256', TYPE.CNAME, '\x03192\x010\x012\x03256\0'],
    ['a\\.b.test', TYPE.CNAME, '\x03a.b\x04test\0'],
  ])('may have the host %s', (host, kind, rdata) => {
    expect(parse(JSON.stringify({ host }))).toMatchObject({ kind, host: rdata })
  })

  it('keeps texts as bytes', () => {
    expect(parse('{"text":"ä"}')).toMatchObject({ kind: 0, host: '', text: '\xc3\xa4' })
  })

  it('says how many labels of its key are none of the name', () => {
    expect(parse('{"host":"a.test","targetstrip":2}')).toMatchObject({ targetStrip: 2, keyLabels: 2 })
    expect(parse('{"host":"a.test","mail":true,"record":"MX"}')).toMatchObject({ targetStrip: 0, keyLabels: 1 })
  })
})

describe('a value that is no service', () => {
  it.each([
    ['', 'its value is not JSON'],
    ['{"host":"a.test"', 'its value is not JSON'],
    ['{"host":"192.0.2.1"}\n{', 'its value is not JSON'],
    ['null', 'its value is null; expected an object'],
    ['["192.0.2.1"]', 'its value is ["192.0.2.1"]; expected an object'],
    ['"192.0.2.1"', 'its value is "192.0.2.1"; expected an object'],
    ['{}', 'neither "host" nor "text"'],
    ['{"host":"","port":80}', 'neither "host" nor "text"'],
    ['{"host":"a..b"}', '"host" is "a..b", neither an address nor a name; expected no empty label'],
    [`{"host":"${'x'.repeat(64)}"}`, 'labels of at most 63 bytes'],
    ['{"host":1}', '"host" is 1; expected a string'],
    ['{"host":"a.test","Port":"80"}', '"Port" is "80"; expected a whole number from -1 to 65535'],
    ['{"host":"a.test","port":1.5}', 'a whole number from -1 to 65535'],
    ['{"host":"a.test","weight":-1}', 'a whole number from 0 to 65535'],
    ['{"host":"a.test","ttl":2147483648}', 'a whole number from 0 to 2147483647'],
    ['{"host":"a.test","mail":1}', '"mail" is 1; expected true or false'],
    [`{"text":"${'x'.repeat(64_001)}"}`, '"text" has 64001 bytes; expected at most 64000'],
  ])('%s is refused in one line', (text, problem) => {
    const found = parse(text)
    expect(found).toContain(problem)
    expect(found).not.toContain('\n')
  })
})
