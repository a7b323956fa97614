import { expect, it } from 'vitest'
import { normalName, readableName } from './normal-name.ts'

it('names are the same whatever their letter case, final dot and script', () => {
  const names = ['Æøå.Example.', 'xn--5cab8c.example', ' æøå.example']
  expect(new Set(names.map(normalName))).toEqual(new Set(['xn--5cab8c.example']))
  expect(new Set(names.map(readableName))).toEqual(new Set(['æøå.example']))
})

it('what IDNA would refuse or change is only put into lower case', () => {
  const names = ['*.Æ b.example', '_SIP._tcp.example', '1.2.3', 'a b.example']
  expect(names.map(normalName)).toEqual(['*.æ b.example', '_sip._tcp.example', '1.2.3', 'a b.example'])
})
