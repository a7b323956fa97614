import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EC_P384, openssl, opensslAuthority, RSA_2048 } from '../../test/support/openssl.ts'
import { type Authority, loadAuthority } from './authority.ts'
import { fits } from './fits.ts'
import { leafIssuer, makeAuthority } from './issue.ts'
import type { LeafRequest } from './leaf-request.ts'

type Signer = Authority & { readonly key: KeyObject }

const now = new Date()
const SERVER: LeafRequest = {
  organization: 'Größe & Söhne, "Inc"',
  domains: ['etcd-1.lab.test', '*.pg.lab.test', 'LOCALHOST'],
  addresses: ['127.0.0.1', 'FD00::0:1', '::ffff:10.0.0.1'],
  usages: ['server', 'client'],
  validityHours: 24 * 365,
  earlyRenewalHours: 24 * 30,
}
const USER: LeafRequest = { ...SERVER, commonName: 'zones', domains: [], addresses: [], usages: ['client'] }

let directory = ''

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-issue-'))
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

function save(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

async function ownAuthority(at = now): Promise<Signer> {
  const { certificate, key } = await makeAuthority('lab authority', 'Holdfast', at)
  return loadAuthority('ours', certificate, key) as Signer
}

async function usersAuthority(...args: Parameters<typeof opensslAuthority> extends [string, ...infer R] ? R : never) {
  const { certificate, key } = await opensslAuthority(directory, ...args)
  return loadAuthority('theirs', certificate, key) as Signer
}

/** What `openssl verify` says in its strictest mode. */
async function verify(certificate: string, { root, chain }: Authority, ...more: readonly string[]): Promise<string> {
  const trusted = ['-CAfile', save('trusted.pem', String(root)), '-no-CApath', '-no-CAstore']
  const between = chain.length === 0 ? [] : ['-untrusted', save('between.pem', chain.join(''))]
  return openssl('verify', '-x509_strict', ...trusted, ...between, ...more, save('leaf.pem', certificate))
}

describe('an authority made for a stack', () => {
  test('is accepted by openssl in its strictest mode, and signs no other authority', async () => {
    const authority = await ownAuthority()
    expect(await verify(String(authority.root), authority)).toMatch(/: OK\n$/u)
    const text = await openssl('x509', '-noout', '-text', '-in', join(directory, 'trusted.pem'))
    expect(text).toContain('Subject: O = Holdfast, CN = lab authority\n')
    expect(text).toContain('CA:TRUE, pathlen:0\n')
    expect(text).toMatch(/Key Usage: critical\s+Certificate Sign, CRL Sign\n/u)
    expect(authority.root.validToDate.getUTCFullYear()).toBe(now.getUTCFullYear() + 10)
  })
})

describe('a certificate', () => {
  test.each<[string, () => Promise<Signer>]>([
    ['an authority made for the stack', () => ownAuthority()],
    ['an RSA authority', () => usersAuthority('rsa', { key: RSA_2048, subject: '/C=DE/O=Firma/CN=RSA authority' })],
    ['an authority on P-384', () => usersAuthority('p384', { key: EC_P384 })],
    [
      'an authority with a key identifier of its own choice',
      () => usersAuthority('odd', { more: ['-addext', 'subjectKeyIdentifier=0102030405'] }),
    ],
  ])('of %s is accepted for its names and usages, and for no others', async (_, make) => {
    const authority = await make()
    const issue = await leafIssuer(authority)
    const server = await issue(SERVER, now)
    const check = (...more: readonly string[]) => verify(server.certificate, authority, ...more)
    for (const name of ['etcd-1.lab.test', 'primary.pg.lab.test', 'localhost'])
      expect(await check('-purpose', 'sslserver', '-verify_hostname', name)).toMatch(/: OK\n$/u)
    for (const address of ['127.0.0.1', 'fd00::1', '::ffff:10.0.0.1'])
      expect(await check('-purpose', 'sslclient', '-verify_ip', address)).toMatch(/: OK\n$/u)
    await expect(check('-verify_hostname', 'etcd-2.lab.test')).rejects.toThrow(/hostname mismatch/iu)
    await expect(check('-verify_ip', '127.0.0.2')).rejects.toThrow(/IP address mismatch/iu)
    const user = await issue(USER, now)
    expect(await verify(user.certificate, authority, '-purpose', 'sslclient')).toMatch(/: OK\n$/u)
    await expect(verify(user.certificate, authority, '-purpose', 'sslserver')).rejects.toThrow(/purpose/u)
  })

  test('of an authority without a key identifier is accepted, but for strictness the authority itself lacks', async () => {
    const authority = await usersAuthority('bare', { more: ['-addext', 'subjectKeyIdentifier=none'] })
    const { certificate } = await (await leafIssuer(authority))(SERVER, now)
    const files = ['-CAfile', save('bare-root.pem', String(authority.root)), save('bare-leaf.pem', certificate)]
    expect(await openssl('verify', ...files)).toMatch(/: OK\n$/u)
  })

  test('of an authority below others is accepted by who trusts the root', async () => {
    await opensslAuthority(directory, 'root', { key: RSA_2048 })
    const { certificate, key } = await opensslAuthority(directory, 'middle', { signedBy: 'root' })
    const root = readFileSync(join(directory, 'root.pem'), 'utf8')
    const authority = loadAuthority('theirs', certificate + root, key) as Signer
    const { certificate: leaf } = await (await leafIssuer(authority))(SERVER, now)
    expect(await verify(leaf, authority, '-verify_hostname', 'localhost')).toMatch(/: OK\n$/u)
  })

  test('that names no owner is accepted, too', async () => {
    const authority = await ownAuthority()
    const { certificate } = await (await leafIssuer(authority))({ ...SERVER, organization: '' }, now)
    expect(await verify(certificate, authority, '-verify_hostname', 'localhost')).toMatch(/: OK\n$/u)
  })

  test('says who it belongs to only as far as it is told', async () => {
    const issue = await leafIssuer(await ownAuthority())
    const subject = async (request: LeafRequest) => {
      const { certificate } = await issue(request, now)
      return new X509Certificate(certificate).toLegacyObject().subject
    }
    expect(await subject(SERVER)).toEqual({ O: 'Größe & Söhne, "Inc"' })
    expect(await subject(USER)).toEqual({ O: 'Größe & Söhne, "Inc"', CN: 'zones' })
    expect(await subject({ ...SERVER, organization: '' })).toEqual({})
  })

  test('has a key of its own on P-256, as PKCS #8, and a random serial of 128 bits', async () => {
    const issue = await leafIssuer(await ownAuthority())
    const [one, other] = [await issue(SERVER, now), await issue(SERVER, now)]
    expect(one.key.reveal()).toMatch(/^-----BEGIN PRIVATE KEY-----\n/u)
    const key = createPrivateKey(one.key.reveal())
    expect(key.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
    expect(new X509Certificate(one.certificate).checkPrivateKey(key)).toBe(true)
    expect(new X509Certificate(other.certificate).checkPrivateKey(key)).toBe(false)
    const serials = [one, other].map(({ certificate }) => new X509Certificate(certificate).serialNumber)
    expect(serials[0]).not.toBe(serials[1])
    for (const serial of serials) expect(serial.length).toBeGreaterThanOrEqual(28)
  })

  test('begins a little earlier and never outlives its authority', async () => {
    const authority = await usersAuthority('short', { days: 10 })
    const later = new Date(authority.root.validFromDate.getTime() + 3_600_000)
    const issue = await leafIssuer(authority)
    const leaf = new X509Certificate((await issue(SERVER, later)).certificate)
    expect(leaf.validToDate).toEqual(authority.root.validToDate)
    expect(later.getTime() - leaf.validFromDate.getTime()).toBeGreaterThanOrEqual(300_000)
    const brief = new X509Certificate((await issue({ ...SERVER, validityHours: 5 }, later)).certificate)
    expect(brief.validToDate.getTime()).toBe(Math.floor((later.getTime() + 5 * 3_600_000) / 1000) * 1000)
  })

  test('may be valid beyond 2050, when the encoding of times changes', async () => {
    const authority = await usersAuthority('long', { days: 40 * 365 })
    const { certificate } = await (await leafIssuer(authority))({ ...SERVER, validityHours: 24 * 365 * 35 }, now)
    expect(await verify(certificate, authority)).toMatch(/: OK\n$/u)
    expect(new X509Certificate(certificate).validToDate.getUTCFullYear()).toBeGreaterThan(2050)
  })

  test.each(['', 'a..b', 'a.b.', 'ümlaut.test', 'a b', '10.0.0.0/8', 'fe80::1%lo', 'a, DNS:b'])(
    'is not issued for "%s"',
    async (name) => {
      const issue = await leafIssuer(await ownAuthority())
      await expect(issue({ ...SERVER, domains: [name] }, now)).rejects.toThrow(
        `Cannot issue a certificate for "${name}": it is neither a domain name nor an IP address`,
      )
    },
  )
})

describe('any request', () => {
  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9_-]{0,10}[a-z0-9])?$/u)
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((value) => !value.includes('\0'))
  const arbitrary = fc.record<LeafRequest>(
    {
      commonName: text,
      organization: text,
      domains: fc.uniqueArray(fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))),
      addresses: fc.uniqueArray(fc.oneof(fc.ipV4(), fc.ipV6())),
      usages: fc.uniqueArray(fc.constantFrom('server', 'client'), { minLength: 1 }),
      validityHours: fc.integer({ min: 1, max: 200_000 }),
      earlyRenewalHours: fc.integer({ min: 0, max: 2_000 }),
    },
    { requiredKeys: ['organization', 'domains', 'addresses', 'usages', 'validityHours', 'earlyRenewalHours'] },
  )

  test('gives a certificate that fits it, and not a request that differs', async () => {
    const authority = await ownAuthority()
    const issue = await leafIssuer(authority)
    await fc.assert(
      fc.asyncProperty(arbitrary, async (request) => {
        const certificate = new X509Certificate((await issue(request, now)).certificate)
        const problem = (other: LeafRequest) => fits(certificate, other, authority, now)
        expect(problem(request)).toBeUndefined()
        expect(problem({ ...request, commonName: `${request.commonName ?? ''}x` })).toBe('common name changed')
        expect(problem({ ...request, organization: `${request.organization}x` })).toBe('organization changed')
        expect(problem({ ...request, domains: [...request.domains, 'more.example'] })).toBe(
          'is not valid for more.example',
        )
        expect(problem({ ...request, addresses: [...request.addresses, '203.0.113.255'] })).toBe(
          'is not valid for 203.0.113.255',
        )
        if (request.domains.length > 0)
          expect(problem({ ...request, domains: request.domains.slice(1) })).toBe('names changed')
        if (request.usages.length > 1)
          expect(problem({ ...request, usages: request.usages.slice(1) })).toBe('usages changed')
      }),
      { numRuns: 100 },
    )
  })
})
