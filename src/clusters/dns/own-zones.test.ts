import { expect, test } from 'vitest'
import { forwardZone, type OwnZones, reverseZones, withSerial } from './own-zones.ts'

const ZONES: OwnZones = {
  domain: 'lab.test',
  machines: [
    { name: 'dns-1', address: '127.31.20.1' },
    { name: 'dns-2', address: '2001:db8::2' },
    { name: 'pg-1', address: '127.31.30.1' },
  ],
  servers: ['dns-1', 'dns-2'],
  delegated: ['pg'],
}

test('every machine has a name, the servers are named, and the zones below have theirs', () => {
  expect(forwardZone(ZONES)(7).split('\n')).toEqual([
    '; Made from the stack file; changes here are overwritten.',
    '$TTL 60',
    'lab.test. SOA dns-1.lab.test. hostmaster.lab.test. 7 7200 1800 1209600 60',
    'lab.test. NS dns-1.lab.test.',
    'lab.test. NS dns-2.lab.test.',
    'pg.lab.test. NS dns-1.lab.test.',
    'pg.lab.test. NS dns-2.lab.test.',
    'dns-1.lab.test. A 127.31.20.1',
    'dns-2.lab.test. AAAA 2001:db8::2',
    'pg-1.lab.test. A 127.31.30.1',
    '',
  ])
})

test('every address has a name, in the reverse zone of its network', () => {
  const zones = reverseZones(ZONES)
  const ipv6 = '0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa'
  expect([...zones.keys()]).toEqual(['20.31.127.in-addr.arpa', ipv6, '30.31.127.in-addr.arpa'])
  expect(zones.get('30.31.127.in-addr.arpa')?.(1)).toContain('\n1.30.31.127.in-addr.arpa. PTR pg-1.lab.test.\n')
  expect(zones.get(ipv6)?.(1)).toContain(`\n2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.${ipv6}. PTR dns-2.lab.test.\n`)
})

test('the serial is 1 at first, the same for the same text, and one more for another', () => {
  const first = withSerial(forwardZone(ZONES), [])
  expect(first).toBe(forwardZone(ZONES)(1))
  expect(withSerial(forwardZone(ZONES), [first, first])).toBe(first)
  const smaller = forwardZone({ ...ZONES, delegated: [] })
  expect(withSerial(smaller, [first])).toBe(smaller(2))
})

test('a change that reached only some servers is not taken back under its own serial', () => {
  const smaller = forwardZone({ ...ZONES, delegated: [] })
  expect(withSerial(forwardZone(ZONES), [smaller(6), forwardZone(ZONES)(5)])).toBe(forwardZone(ZONES)(7))
  expect(withSerial(smaller, [smaller(6), forwardZone(ZONES)(5)])).toBe(smaller(6))
  expect(withSerial(smaller, [smaller(6), forwardZone(ZONES)(6)])).toBe(smaller(7))
})

test('after the largest serial comes 1, and a text without one does not count', () => {
  expect(withSerial(forwardZone(ZONES), [forwardZone({ ...ZONES, delegated: [] })(2 ** 32 - 1)])).toBe(
    forwardZone(ZONES)(1),
  )
  expect(withSerial(forwardZone(ZONES), ['nonsense'])).toBe(forwardZone(ZONES)(1))
})
