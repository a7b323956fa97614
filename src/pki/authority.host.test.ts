import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EC_P256, EC_P384, openssl, opensslAuthority, RSA_2048 } from '../../test/support/openssl.ts'
import { Secret } from '../lib/secret.ts'
import { authorityPem, endOf, loadAuthority, validityProblem } from './authority.ts'

const NAME = 'the authority of this test'
let directory = ''

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-authority-'))
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

function read(file: string): string {
  return readFileSync(join(directory, file), 'utf8')
}

describe('an authority that the user gives', () => {
  test.each([
    ['RSA', RSA_2048],
    ['EC on P-256', EC_P256],
    ['EC on P-384', EC_P384],
  ])('may have a key for %s', async (_, kind) => {
    const { certificate, key } = await opensslAuthority(directory, 'kind', { key: kind })
    const authority = loadAuthority(NAME, certificate, key)
    expect(authority.chain).toEqual([])
    expect(authorityPem(authority)).toBe(certificate)
    expect(validityProblem(authority, new Date())).toBeUndefined()
  })

  test('may have its key as PKCS #1 or SEC 1, with parameters before it', async () => {
    const rsa = await opensslAuthority(directory, 'pkcs1', { key: RSA_2048 })
    const pkcs1 = await openssl('pkey', '-traditional', '-in', join(directory, 'pkcs1.key'))
    expect(pkcs1).toContain('BEGIN RSA PRIVATE KEY')
    expect(loadAuthority(NAME, rsa.certificate, new Secret(pkcs1)).key?.asymmetricKeyType).toBe('rsa')
    const ec = await opensslAuthority(directory, 'sec1')
    const sec1 = await openssl('pkey', '-traditional', '-in', join(directory, 'sec1.key'))
    const parameters = await openssl('ecparam', '-name', 'prime256v1')
    expect(sec1).toContain('BEGIN EC PRIVATE KEY')
    expect(parameters).toContain('BEGIN EC PARAMETERS')
    expect(loadAuthority(NAME, ec.certificate, new Secret(parameters + sec1)).key?.asymmetricKeyType).toBe('ec')
  })

  test('may stand below others, which are in the same file in any order', async () => {
    await opensslAuthority(directory, 'root', { key: RSA_2048, days: 20 })
    await opensslAuthority(directory, 'middle', { signedBy: 'root', days: 10 })
    const { key } = await opensslAuthority(directory, 'low', { signedBy: 'middle', days: 15 })
    const authority = loadAuthority(NAME, [read('root.pem'), read('middle.pem'), read('low.pem')].join('\n'), key)
    expect(authority.chain.map(String)).toEqual([read('low.pem'), read('middle.pem')])
    expect(String(authority.root)).toBe(read('root.pem'))
    expect(endOf(authority)).toEqual(authority.chain[1].validToDate)
  })

  test('is told to be out of date by the first certificate that is, up to the root', async () => {
    await opensslAuthority(directory, 'short', { days: 5 })
    const { certificate, key } = await opensslAuthority(directory, 'below', { signedBy: 'short', days: 10 })
    const authority = loadAuthority(NAME, certificate + read('short.pem'), key)
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
    expect(validityProblem(authority, inDays(4))).toBeUndefined()
    expect(validityProblem(authority, inDays(6))).toMatch(
      /^it expired on \d{4}-\d\d-\d\d; expected one that is valid$/u,
    )
    expect(validityProblem(authority, inDays(-1))).toMatch(/^it is not valid before /u)
  })
})

describe('an authority is refused', () => {
  const refusal = (certificate: string, key: Secret) => {
    try {
      loadAuthority(NAME, certificate, key)
    } catch (error) {
      return error as Error & { hint?: string }
    }
    throw new Error('it was taken')
  }

  test('when its key is encrypted, in both formats', async () => {
    const { certificate } = await opensslAuthority(directory, 'encrypted', { key: RSA_2048 })
    for (const format of [[], ['-traditional']]) {
      const encrypt = ['-aes128', '-passout', 'pass:secret', '-in', join(directory, 'encrypted.key')]
      const key = await openssl('pkey', ...format, ...encrypt)
      const error = refusal(certificate, new Secret(key))
      expect(error.message).toBe(`Cannot use ${NAME}: its key is encrypted; expected a key without a passphrase`)
      expect(error.hint).toContain('openssl pkey')
    }
  })

  test('when certificate and key do not belong together', async () => {
    const { certificate } = await opensslAuthority(directory, 'one')
    const { key } = await opensslAuthority(directory, 'other')
    expect(refusal(certificate, key).message).toContain('its certificate does not match its key')
  })

  test('when it is a certificate of a server', async () => {
    const { certificate, key } = await opensslAuthority(directory, 'leaf', { isCa: false })
    expect(refusal(certificate, key).message).toContain('its certificate is not one of an authority')
  })

  test('when certificates above it are missing', async () => {
    await opensslAuthority(directory, 'absent')
    const { certificate, key } = await opensslAuthority(directory, 'orphan', { signedBy: 'absent' })
    expect(refusal(certificate, key).message).toContain('the certificates above it are missing')
  })

  test('when a certificate above it has the right name but another key', async () => {
    await opensslAuthority(directory, 'true-root', { subject: '/CN=root' })
    const { certificate, key } = await opensslAuthority(directory, 'below-true', { signedBy: 'true-root' })
    const { certificate: namesake } = await opensslAuthority(directory, 'namesake', { subject: '/CN=root' })
    expect(refusal(certificate + namesake, key).message).toContain('the certificates above it are missing')
  })

  test.each([
    ['is too short', ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024'], 'its key has 1024 bits'],
    ['is for another algorithm', ['-algorithm', 'ED25519'], 'its key is for ed25519'],
    [
      'is on an unusual curve',
      ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:secp256k1'],
      'its key is on the curve secp256k1',
    ],
  ])('when its key %s', async (_, kind, message) => {
    const { certificate, key } = await opensslAuthority(directory, 'weak', { key: kind })
    expect(refusal(certificate, key).message).toContain(message)
  })

  test('when there is nothing that could be read, and what is there is not shown', async () => {
    const { certificate, key } = await opensslAuthority(directory, 'good')
    expect(refusal('', key).message).toContain('its certificate cannot be read; expected PEM')
    expect(refusal(certificate.replaceAll(/^M/gmu, '!'), key).message).toContain('its certificate cannot be read')
    const error = refusal(certificate, new Secret('hunter2'))
    expect(error.message).toContain('its key cannot be read')
    expect(JSON.stringify(error) + String(error.stack)).not.toContain('hunter2')
  })
})
