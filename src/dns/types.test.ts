import { describe, expect, it } from 'vitest'
import {
  CLASS,
  classNumber,
  className,
  opcodeName,
  rcodeName,
  TYPE,
  typeFromBytes,
  typeName,
  typeNumber,
} from './types.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('mnemonics', () => {
  it('go both ways for every type, in any letter case', () => {
    for (const [name, number] of Object.entries(TYPE)) {
      expect(typeName(number)).toBe(name)
      expect(typeNumber(name.toLowerCase())).toBe(number)
      expect(typeFromBytes(bytes(`x${name.toLowerCase()}x`), 1, 1 + name.length)).toBe(number)
    }
  })

  it('fall back to the generic form of RFC 3597', () => {
    expect(typeName(65280)).toBe('TYPE65280')
    expect(typeNumber('type65280')).toBe(65280)
    expect(typeFromBytes(bytes('TyPe1'), 0, 5)).toBe(TYPE.A)
    expect(className(7)).toBe('CLASS7')
    expect(classNumber('class1')).toBe(CLASS.IN)
    expect(rcodeName(99)).toBe('RCODE99')
    expect(rcodeName(3)).toBe('NXDOMAIN')
    expect(opcodeName(0)).toBe('QUERY')
  })

  it.each(['TYPE', 'TYPE65536', 'TYPE-1', 'TYPE1x', 'TYPE1 ', 'BOGUS', '', 'CNAM%', 'toString'])(
    'refuse %j',
    (text) => {
      expect(typeNumber(text)).toBeUndefined()
      expect(typeFromBytes(bytes(text), 0, text.length)).toBe(-1)
    },
  )
})
