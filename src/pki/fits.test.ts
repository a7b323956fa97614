import { type KeyObject, X509Certificate } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Authority, loadAuthority } from './authority.ts'
import { fits } from './fits.ts'
import { leafIssuer, makeAuthority } from './issue.ts'
import type { LeafRequest } from './leaf-request.ts'

type Signer = Authority & { readonly key: KeyObject }

const now = new Date('2026-11-16T12:00:00Z')
const REQUEST: LeafRequest = {
  organization: 'Holdfast',
  domains: ['a.lab.test'],
  addresses: ['127.0.0.1', 'fd00::1'],
  usages: ['server'],
  validityHours: 24 * 100,
  earlyRenewalHours: 24 * 30,
}

let authority: Signer
let certificate: X509Certificate

async function makeSigner(): Promise<Signer> {
  const made = await makeAuthority('lab authority', 'Holdfast', now)
  return loadAuthority('ours', made.certificate, made.key) as Signer
}

function problem(change: Partial<LeafRequest> = {}, at = now): string | undefined {
  return fits(certificate, { ...REQUEST, ...change }, authority, at)
}

function inHours(hours: number): Date {
  return new Date(now.getTime() + hours * 3_600_000)
}

beforeAll(async () => {
  authority = await makeSigner()
  certificate = new X509Certificate((await (await leafIssuer(authority))(REQUEST, now)).certificate)
})

describe('a certificate fits', () => {
  test('a request that says the same in other words', () => {
    expect(problem()).toBeUndefined()
    expect(problem({ domains: ['A.lab.test', 'a.lab.test', '127.0.0.1'], addresses: ['FD00:0::1'] })).toBeUndefined()
    expect(problem({ validityHours: 24 * 365 })).toBeUndefined()
  })
})

describe('a certificate does not fit', () => {
  test('when names are missing, or there are more', () => {
    expect(problem({ addresses: ['127.0.0.1', 'fd00::1', '127.0.0.2', 'fd00::2'] })).toBe(
      'is not valid for 127.0.0.2, fd00::2',
    )
    expect(problem({ domains: ['b.lab.test'] })).toBe('is not valid for b.lab.test')
    expect(problem({ addresses: ['127.0.0.1'] })).toBe('names changed')
  })

  test('when its owner or its use is another', () => {
    expect(problem({ organization: 'Other' })).toBe('organization changed')
    expect(problem({ commonName: 'a' })).toBe('common name changed')
    expect(problem({ usages: ['server', 'client'] })).toBe('usages changed')
  })

  test('when it nears its end, is beyond it, or has not begun', () => {
    expect(problem({}, inHours(24 * 69))).toBeUndefined()
    expect(problem({}, inHours(24 * 70 + 1))).toBe('expires in 29 days')
    expect(problem({}, inHours(24 * 98 + 1))).toBe('expires in 47 hours')
    expect(problem({}, inHours(24 * 100 - 1.5))).toBe('expires in 1 hour')
    expect(problem({}, inHours(24 * 100 - 0.5))).toBe('expires in less than an hour')
    expect(problem({}, inHours(24 * 100))).toBe('expired on 2027-02-24')
    expect(problem({}, inHours(-1))).toBe('is not valid before 2026-11-16T11:55:00.000Z')
  })

  test('when it outlives its validity period', () => {
    expect(problem({ validityHours: 24 * 50 })).toBe('outlives validity_period')
  })

  test('when another authority signed it, even one of the same name', async () => {
    const namesake = await makeSigner()
    expect(namesake.certificate.subject).toBe(authority.certificate.subject)
    expect(fits(certificate, REQUEST, namesake, now)).toBe('was signed by another authority')
  })
})

test('a certificate that ends with its authority is not renewed for nothing', async () => {
  const end = authority.certificate.validToDate
  const late = new Date(end.getTime() - 24 * 3_600_000)
  const last = new X509Certificate((await (await leafIssuer(authority))(REQUEST, late)).certificate)
  expect(last.validToDate).toEqual(end)
  expect(fits(last, REQUEST, authority, late)).toBeUndefined()
  expect(fits(last, REQUEST, authority, end)).toMatch(/^expired on /u)
})
