import { expect, test } from 'vitest'
import { question } from '../../test/support/fault-server.ts'
import { PLAIN_VIEW } from '../../test/support/local-answer.ts'
import { LocalCatalog } from '../../test/support/local-catalog.ts'
import { briefly } from '../../test/support/lookup.ts'
import { formatName } from '../dns/name.ts'
import { TYPE } from '../dns/types.ts'
import { commonFallthrough } from './fallthrough.ts'

const ZONE = '$TTL 60\n@ SOA ns hostmaster 1 3600 600 86400 60\n@ NS ns\nns A 192.0.2.53\n'

function ask(local: LocalCatalog, name: string, type: number = TYPE.A): string {
  const answer = local.zones.ask(question(name, type), [{ ...PLAIN_VIEW, handsOver: true }])
  return answer === undefined || answer === 'elsewhere' ? String(answer) : briefly(answer)
}

test('a name passes when every list lets it pass', () => {
  const common = (...lists: string[][]) => commonFallthrough(lists).map((name) => formatName(name))
  expect(common()).toEqual([])
  expect(common(['.'])).toEqual(['.'])
  expect(common(['a.test.', 'B.test.'], ['.'])).toEqual(['a.test.', 'b.test.'])
  expect(common(['a.test.'], ['x.a.test.', 'b.test.'])).toEqual(['x.a.test.'])
  expect(common(['a.test.'], ['b.test.'])).toEqual([])
  expect(common(['.'], [])).toEqual([])
})

test('the list of a source decides which of its names are asked elsewhere', () => {
  const local = new LocalCatalog()
  local.file(local.source(0, { fallthrough: ['in.some.test.', 'other.test.'] }), 'some.test.', ZONE)
  local.file(local.source(1, { fallthrough: ['.'] }), 'all.test.', ZONE)
  local.file(local.source(2), 'none.test.', ZONE)
  expect(ask(local, 'x.some.test.')).toBe('NXDOMAIN')
  expect(ask(local, 'xin.some.test.')).toBe('NXDOMAIN')
  expect(ask(local, 'in.some.test.')).toBe('elsewhere')
  expect(ask(local, 'X.IN.some.test.')).toBe('elsewhere')
  expect(ask(local, 'x.all.test.')).toBe('elsewhere')
  expect(ask(local, 'x.none.test.')).toBe('NXDOMAIN')
})

test('in a zone of several sources each of them has to let a name pass', () => {
  const local = new LocalCatalog()
  const services = local.part(1, 'mixed.test.', { fallthrough: ['b.mixed.test.'] })
  const reverse = local.part(2, 'mixed.test.', { fallthrough: undefined })
  local.file(local.source(0, { fallthrough: ['.'] }), 'mixed.test.', ZONE)
  services.set({ 'www.mixed.test.': ['A 192.0.2.1'] })
  reverse.set({ 'two.mixed.test.': ['A 192.0.2.2'] })
  expect(ask(local, 'www.mixed.test.')).toBe('192.0.2.1')
  expect(ask(local, 'x.mixed.test.')).toBe('NXDOMAIN')
  expect(ask(local, 'x.b.mixed.test.')).toBe('elsewhere')
})

test('a name passes to the zone around only where its own zone allows it', () => {
  const local = new LocalCatalog()
  local.file(local.source(1), 'test.', `${ZONE}*.sub A 192.0.2.9\n`)
  local.file(local.source(0, { fallthrough: ['in.sub.test.'] }), 'sub.test.', ZONE)
  expect(ask(local, 'x.sub.test.')).toBe('NXDOMAIN')
  expect(ask(local, 'in.sub.test.')).toBe('192.0.2.9')
})

test('a source is asked once: its own zone around is passed over', () => {
  const local = new LocalCatalog()
  const both = local.source(0, { fallthrough: ['.'] })
  local.file(both, 'test.', `${ZONE}sub NS ns.sub\nns.sub A 192.0.2.54\n`)
  local.file(both, 'sub.test.', ZONE)
  expect(ask(local, 'x.sub.test.')).toBe('elsewhere')
  const denied = local.zones.ask(question('x.sub.test.'))
  expect(typeof denied === 'object' && denied.authorities.map(({ name }) => formatName(name))).toEqual(['sub.test.'])
})

test('ANY gets its minimal answer before anything is asked elsewhere', () => {
  const local = new LocalCatalog()
  local.file(local.source(0, { fallthrough: ['.'] }), 'all.test.', ZONE)
  expect(ask(local, 'example.org.', TYPE.ANY)).toBe('"RFC8482" ""')
  expect(ask(local, 'x.all.test.', TYPE.ANY)).toBe('"RFC8482" ""')
  const whole = local.zones.ask(question('example.org.', TYPE.ANY), [
    { ...PLAIN_VIEW, handsOver: true, minimalAny: false },
  ])
  expect(whole).toBe('elsewhere')
  const byRcode = local.zones.ask(question('x.all.test.', TYPE.ANY), [
    { ...PLAIN_VIEW, handsOver: false, handoverRcodes: 1 << 3 },
  ])
  expect(typeof byRcode === 'object' && [briefly(byRcode), byRcode.aa]).toEqual(['"RFC8482" ""', false])
})
