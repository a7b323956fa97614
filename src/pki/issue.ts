// Makes authorities and certificates. Keys of certificates are always EC on P-256, whatever the authority has: they are
// made in a fraction of a millisecond. Imported only when something is to be issued: the library takes its time to load.

// oxlint-disable-next-line import/no-unassigned-import -- the library stops without it
import 'reflect-metadata'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { createHash, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { Secret } from '../lib/secret.ts'
import { type Authority, CURVES } from './authority.ts'
import { BACKDATED_MS, type LeafRequest, subjectNames, validityFrom, wholeSeconds } from './leaf-request.ts'

export interface IssuedKey {
  /** PEM. */
  readonly certificate: string
  /** PKCS #8, PEM. */
  readonly key: Secret
}

const AUTHORITY_YEARS = 10
const P256 = { name: 'ECDSA', namedCurve: 'P-256' } as const
const P256_POINT_BYTES = 65

const generate = promisify(generateKeyPair)

/** Signs servers and users itself, no other authorities. */
export async function makeAuthority(commonName: string, organization: string, now: Date): Promise<IssuedKey> {
  const { publicKey, privateKey } = await generate('ec', { namedCurve: P256.namedCurve })
  const notAfter = wholeSeconds(now.getTime())
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + AUTHORITY_YEARS)
  const subject = nameOf({ organization, commonName })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const certificate = await X509CertificateGenerator.create({
    subject,
    issuer: subject,
    publicKey: spki,
    signingKey: privateKey.toCryptoKey(P256, false, ['sign']),
    signingAlgorithm: { name: P256.name, hash: 'SHA-256' },
    notBefore: wholeSeconds(now.getTime() - BACKDATED_MS),
    notAfter,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      keyIdOf(spki),
    ],
  })
  return { certificate: pemOf(certificate), key: pkcs8(privateKey) }
}

/** A function that issues certificates of one authority, which must have its key. */
export async function leafIssuer(
  authority: Authority & { readonly key: KeyObject },
): Promise<(request: LeafRequest, now: Date) => Promise<IssuedKey>> {
  const issuer = new X509Certificate(authority.certificate.raw)
  const signing = signingOf(authority.key)
  const constant = [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    await authorityKeyIdOf(issuer),
  ]
  return async (request, now) => {
    const { publicKey, privateKey } = await generate('ec', { namedCurve: P256.namedCurve })
    const spki = publicKey.export({ type: 'spki', format: 'der' })
    const certificate = await X509CertificateGenerator.create({
      subject: nameOf(request),
      issuer: issuer.subjectName,
      publicKey: spki,
      ...signing,
      ...validityFrom(now, request, authority),
      extensions: [...constant, keyIdOf(spki), ...usagesOf(request), ...namesOf(request)],
    })
    return { certificate: pemOf(certificate), key: pkcs8(privateKey) }
  }
}

function signingOf(key: KeyObject) {
  if (key.asymmetricKeyType === 'rsa') {
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    return { signingKey: key.toCryptoKey(algorithm, false, ['sign']), signingAlgorithm: algorithm }
  }
  const { namedCurve, hash } = CURVES[key.asymmetricKeyDetails?.namedCurve ?? '']
  const signingKey = key.toCryptoKey({ name: P256.name, namedCurve }, false, ['sign'])
  return { signingKey, signingAlgorithm: { name: P256.name, hash } }
}

/** As the authority's certificate has it, which need not be the usual hash of its key. */
async function authorityKeyIdOf(issuer: X509Certificate): Promise<AuthorityKeyIdentifierExtension> {
  const own = issuer.getExtension(SubjectKeyIdentifierExtension)
  return own === null
    ? AuthorityKeyIdentifierExtension.create(issuer.publicKey)
    : new AuthorityKeyIdentifierExtension(own.keyId)
}

function nameOf({ organization, commonName }: Pick<LeafRequest, 'organization' | 'commonName'>): Name {
  const parts = { O: organization, CN: commonName }
  return new Name(Object.entries(parts).flatMap(([type, text]) => (text ? [{ [type]: [{ utf8String: text }] }] : [])))
}

function usagesOf({ usages }: LeafRequest): ExtendedKeyUsageExtension[] {
  const known = { server: ExtendedKeyUsage.serverAuth, client: ExtendedKeyUsage.clientAuth }
  return usages.length === 0 ? [] : [new ExtendedKeyUsageExtension(usages.map((usage) => known[usage]))]
}

/** Critical where they are all that the certificate says of its owner (RFC 5280, section 4.2.1.6). */
function namesOf(request: LeafRequest): SubjectAlternativeNameExtension[] {
  const names = subjectNames(request)
  const isCritical = !request.organization && !request.commonName
  return names.length === 0 ? [] : [new SubjectAlternativeNameExtension([...names], isCritical)]
}

/** Of a key on P-256: the hash of its point, which is the end of its encoding (RFC 5280, section 4.2.1.2). */
function keyIdOf(spki: Buffer): SubjectKeyIdentifierExtension {
  return new SubjectKeyIdentifierExtension(createHash('sha1').update(spki.subarray(-P256_POINT_BYTES)).digest('hex'))
}

function pemOf({ rawData }: X509Certificate): string {
  const lines = Buffer.from(rawData)
    .toString('base64')
    .replaceAll(/.{64}(?!$)/gu, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

function pkcs8(key: KeyObject): Secret {
  return new Secret(key.export({ type: 'pkcs8', format: 'pem' }) as string)
}
