import { describe, expect, test } from 'vitest'
import { formatService, hostType, NO_SERVICE, parseService } from './service-value.ts'

const parse = (text: string) => parseService(Buffer.from(text))

describe('a value is written as Go writes it', () => {
  test('fields in the order of the struct, those without a value left out', () => {
    const all = {
      port: 1,
      priority: 2,
      weight: 3,
      text: 't',
      mail: true,
      ttl: 4,
      targetstrip: 1,
      group: 'g',
      owner: 'o',
    }
    expect(formatService({ ...all, host: 'h' })).toBe(
      '{"host":"h","port":1,"priority":2,"weight":3,"text":"t","mail":true,"ttl":4,"targetstrip":1,"group":"g","owner":"o"}',
    )
    expect(formatService({ ...NO_SERVICE, targetstrip: 1, host: '192.0.2.1' })).toBe(
      '{"host":"192.0.2.1","targetstrip":1}',
    )
    expect(formatService(NO_SERVICE)).toBe('{}')
  })

  // The expected text is what Go 1.26 prints for these characters.
  test('characters escaped as encoding/json does', () => {
    const text = `a<b>&c"\\/\0\x07\b\t\n\x0b\f\r\x1f\x7f\x80é\u2027\u2028\u2029😀`
    expect(formatService({ ...NO_SERVICE, text })).toBe(
      `{"text":"a\\u003cb\\u003e\\u0026c\\"\\\\/\\u0000\\u0007\\b\\t\\n\\u000b\\f\\r\\u001f\x7f\x80é\u2027\\u2028\\u2029😀"}`,
    )
  })
})

describe('a value is read as Go reads it', () => {
  test.each([
    ['null', NO_SERVICE],
    ['{}', NO_SERVICE],
    ['{"host":null,"other":[1]}', NO_SERVICE],
    ['{"HOST":"x","Ttl":5}', { ...NO_SERVICE, host: 'x', ttl: 5 }],
    ['{"host":"a","Host":"b"}', { ...NO_SERVICE, host: 'b' }],
    ['{"text":"\\ud800"}', { ...NO_SERVICE, text: '\ufffd' }],
  ])('%s', (text, service) => expect(parse(text)).toEqual(service))

  test.each([
    ['invalid-json', 'its value is not JSON'],
    ['[]', 'its value is []; expected an object such as {"host":"192.0.2.1"}'],
    ['"x"', 'its value is "x"; expected an object'],
    ['{"host":1}', '"host" is 1; expected a string'],
    ['{"mail":"yes"}', '"mail" is "yes"; expected true or false'],
    ['{"ttl":1.5}', '"ttl" is 1.5; expected a whole number'],
    ['{"TTL":-1}', '"TTL" is -1; expected a whole number from 0 to 4294967295'],
    ['{"ttl":4294967296}', '"ttl" is 4294967296; expected a whole number from 0'],
  ])('%s is refused', (text, problem) => expect(parse(text)).toContain(problem))

  test('what is written is read again', () => {
    const service = { ...NO_SERVICE, host: 'h<>&', text: '"heritage=x"\u2028', ttl: 60, targetstrip: 2, owner: 'me' }
    expect(parse(formatService(service))).toEqual(service)
  })
})

test('a host is an address or a name; below the reverse zones it is a PTR target', () => {
  expect(hostType('a.test', '192.0.2.1')).toBe('A')
  expect(hostType('a.test', '2001:db8::1')).toBe('AAAA')
  expect(hostType('a.test', '192.0.2.256')).toBe('CNAME')
  expect(hostType('2.0.26.172.in-addr.arpa', 'host')).toBe('PTR')
  expect(hostType('1.ip6.arpa', 'host')).toBe('PTR')
  expect(hostType('in-addr.arpa', 'host')).toBe('CNAME')
})
