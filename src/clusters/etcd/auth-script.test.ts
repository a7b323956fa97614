import { expect, test } from 'vitest'
import type { Hardware } from '../../machine/hardware.ts'
import type { Site } from '../site.ts'
import { authScript } from './auth-script.ts'
import type { EtcdSpec, EtcdUser } from './spec.ts'

const site = { path: (_: string, path: string) => `/it's here${path}` } as Site

function userCalls(permissions: EtcdUser['permissions']): string {
  const spec = {
    members: [{ name: 'etcd-1', address: '10.0.0.1', moreAddresses: [], hardware: {} as Hardware, tls: undefined }],
    bootstrapMember: 'etcd-1',
    clientCertAuth: true,
    users: [{ name: 'u', permissions, password: undefined }],
  } as Partial<EtcdSpec> as EtcdSpec
  const script = authScript(spec, site)
  return script.slice(script.indexOf("\nbegin 'u'\n") + 11, script.indexOf('\nfinish\n'))
}

function permission(permType: number, key: string, end: string): string {
  const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')
  return JSON.stringify({ ...(permType > 0 && { permType }), key: base64(key), range_end: base64(end) })
}

test('a prefix reaches up to, and not including, the first key behind all that begin with it', () => {
  expect(userCalls([{ access: 'write', prefix: '/a/' }])).toBe(
    `user 'u' '${permission(1, '/a/', '/a0')}' 'write' '/a/'`,
  )
})

test('no prefix means all keys', () => {
  expect(userCalls([{ access: 'read', prefix: '' }])).toBe(`user 'u' '${permission(0, '\0', '\0')}' 'read' ''`)
})

test('permissions are in the order of the keys, with one for each prefix', () => {
  const permissions = [
    { access: 'read', prefix: '/b/' },
    { access: 'readwrite', prefix: '/a/' },
    { access: 'write', prefix: '/b/' },
  ] as const
  const told = [permission(2, '/a/', '/a0'), permission(2, '/b/', '/b0')].join('\n')
  expect(userCalls(permissions)).toBe(`user 'u' '${told}' 'readwrite' '/a/' 'readwrite' '/b/'`)
})

test('a user may have no permission at all', () => {
  expect(userCalls([])).toBe(`user 'u' ''`)
})

test('quotes in prefixes and paths are quoted', () => {
  expect(userCalls([{ access: 'read', prefix: "it's" }])).toContain(String.raw`'it'\''s'`)
  const spec = { members: [], bootstrapMember: '', users: [], clientCertAuth: true } as Partial<EtcdSpec> as EtcdSpec
  expect(authScript(spec, site)).toContain(String.raw`ETCDCTL_CACERT='/it'\''s here/etc/etcd/ca.pem'`)
})
