import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatRdata } from '../../dns/rdata/rdata.ts'
import { typeName } from '../../dns/types.ts'
import { connTargets } from './conn-url.ts'

function targets(url: string): string[] | string {
  const found = connTargets(url)
  return typeof found === 'string'
    ? found
    : found.map(({ type, rdata }) => `${typeName(type)} ${formatRdata(type, rdata)}`)
}

describe('a conn_url', () => {
  test.each([
    ['postgres://10.0.0.1:5432/postgres', ['A 10.0.0.1']],
    ['postgresql://10.0.0.1/postgres', ['A 10.0.0.1']],
    ['postgres://user@10.0.0.1:5432', ['A 10.0.0.1']],
    ['postgres://user:p%40ss@10.0.0.1:5432/db?application_name=http://127.0.0.1:8008/patroni', ['A 10.0.0.1']],
    ['postgres://user:p@ss@10.0.0.1:5432/db', ['A 10.0.0.1']],
    ['postgres://[::1]:5432/postgres', ['AAAA ::1']],
    ['postgres://[fd00::a:1]/postgres', ['AAAA fd00::a:1']],
    ['postgres://pg1.db.example.com:5432/postgres', ['CNAME pg1.db.example.com.']],
    ['postgres://pg_1.db.example.com.:5432/postgres', ['CNAME pg_1.db.example.com.']],
    ['postgres://10.0.0.1:5432,[fd00::1]:5432/db', ['A 10.0.0.1', 'AAAA fd00::1']],
    ['postgres://a.example:5432,b.example/db', ['CNAME a.example.', 'CNAME b.example.']],
  ])('%s leads to %j', (url, expected) => {
    expect(targets(url)).toEqual(expected)
  })

  const neither = 'its conn_url has a host that is neither an address nor a name with a domain'
  test.each([
    ['http://10.0.0.1/', 'its conn_url does not begin with postgres://'],
    ['', 'its conn_url does not begin with postgres://'],
    ['postgres:///postgres?host=/var/run/postgresql', 'its conn_url names no host'],
    ['postgres://:5432/postgres', 'its conn_url names no host'],
    ['postgres://10.0.0.1:5432,/postgres', 'its conn_url names no host'],
    ['postgres://fd00::1:5432/postgres', 'its conn_url names no host'],
    ['postgres://%2Fvar%2Frun%2Fpostgresql/postgres', 'its conn_url names a Unix socket'],
    ['postgres://user@%2ftmp:5432/postgres', 'its conn_url names a Unix socket'],
    ['postgres://pg1:5432/postgres', neither],
    ['postgres://localhost/postgres', neither],
    ['postgres://10.0.0.256/postgres', neither],
    ['postgres://a..example/postgres', neither],
    ['postgres://a b.example/postgres', neither],
    ['postgres://[fe80::1%25eth0]:5432/postgres', neither],
    ['postgres://[10.0.0.1]/postgres', neither],
    [`postgres://${'a'.repeat(64)}.example/postgres`, neither],
    [`postgres://${'a.'.repeat(130)}example/postgres`, neither],
  ])('%s leads nowhere', (url, problem) => {
    expect(targets(url)).toBe(problem)
  })

  test('never shows what is in it, and never throws', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const found = targets(`postgres://user:secret${text}`)
        expect(typeof found === 'string' && found.includes('secret')).toBe(false)
      }),
    )
  })
})
