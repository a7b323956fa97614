import { expect, it } from 'vitest'
import { domainFilter } from './domain-filter.ts'

const lists = { include: [], exclude: [] }
const kept = (filter: (name: string) => boolean, names: readonly string[]) => names.filter(filter)

it('a domain with a dot in front is only what is below it', () => {
  const filter = domainFilter({ include: ['.example.org'], exclude: ['b.example.org'] })
  expect(kept(filter, ['example.org', 'a.example.org', 'b.example.org', 'c.b.example.org'])).toEqual(['a.example.org'])
})

it('a name in punycode is within a domain in its own script', () => {
  expect(domainFilter({ ...lists, include: ['æøå.org'] })('a.xn--5cab8c.org.')).toBe(true)
})

it('regexps count instead of domains', () => {
  const filter = domainFilter({
    include: ['nothing.test'],
    exclude: [],
    regexInclude: String.raw`(?i)^[^.]+\.Example\.org$`,
  })
  expect(kept(filter, ['A.example.org', 'a.b.example.org', 'nothing.test'])).toEqual(['A.example.org'])
})

it('what a regexp excludes is excluded first', () => {
  const names = ['a.example.org', 'a.dev.example.org', 'a.other.org']
  const regexExclude = String.raw`\.dev\.`
  expect(kept(domainFilter({ ...lists, regexInclude: 'example', regexExclude }), names)).toEqual(['a.example.org'])
  expect(kept(domainFilter({ ...lists, regexExclude }), names)).toEqual(['a.example.org', 'a.other.org'])
})
