// An authority that signs certificates: one that was made for a stack, or the user's own, which may stand below others up
// to a root. It is checked as a whole when it is loaded, so that everything it signs will be accepted.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { HoldfastError } from '../lib/errors.ts'
import type { Secret } from '../lib/secret.ts'

export interface Authority {
  /** Signs. */
  readonly certificate: X509Certificate
  /** From the one that signs upwards, without the root: servers send them along. Empty when the root itself signs. */
  readonly chain: readonly X509Certificate[]
  /** What others are told to trust. */
  readonly root: X509Certificate
  /** Undefined when only its certificates are kept. */
  readonly key: KeyObject | undefined
}

/** By the names OpenSSL has for them; a signature is as strong as its hash. */
export const CURVES: Readonly<Record<string, { readonly namedCurve: string; readonly hash: string }>> = {
  prime256v1: { namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { namedCurve: 'P-521', hash: 'SHA-512' },
}
const FEWEST_RSA_BITS = 2048
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu

/**
 * From PEM, certificates in any order; the key as PKCS #8, PKCS #1 or SEC 1. Without a key the first certificate is the one that signs.
 * `name` is what messages call it. Whether it is in force now is another question (validityProblem).
 */
export function loadAuthority(name: string, pem: string, secretKey: Secret | undefined): Authority {
  const refuse = (problem: string, hint?: string): never => {
    throw new HoldfastError('AuthorityInvalid', `Cannot use ${name}: ${problem}`, hint === undefined ? {} : { hint })
  }
  const certificates = parseCertificates(pem) ?? refuse('its certificate cannot be read; expected PEM')
  const key = secretKey && parseKey(secretKey, refuse)
  const certificate = key === undefined ? certificates[0] : certificates.find((one) => one.checkPrivateKey(key))
  if (certificate === undefined) return refuse('its certificate does not match its key; they must be a pair')
  if (!certificate.ca) return refuse('its certificate is not one of an authority; expected CA:TRUE and keyCertSign')
  const problem = key && keyProblem(key)
  if (problem !== undefined) return refuse(problem)
  const path = pathToRoot(certificate, certificates)
  if (path === undefined)
    return refuse('the certificates above it are missing; expected all up to the root in the same file')
  return { certificate, chain: path.slice(0, -1), root: path[path.length - 1], key }
}

/** Undefined where something is no certificate, and where there is none. */
export function parseCertificates(pem: string): X509Certificate[] | undefined {
  try {
    const certificates = (pem.match(PEM_CERTIFICATE) ?? []).map((block) => new X509Certificate(block))
    return certificates.length === 0 ? undefined : certificates
  } catch {
    return undefined
  }
}

export function validityProblem(authority: Authority, now: Date): string | undefined {
  for (const { validFromDate, validToDate } of [...authority.chain, authority.root]) {
    if (validToDate <= now) return `it expired on ${dateOf(validToDate)}; expected one that is valid`
    if (validFromDate > now) return `it is not valid before ${validFromDate.toISOString()}; expected one that is valid`
  }
  return undefined
}

/** When the first of the certificates between it and the root ends. */
export function endOf({ chain, root }: Authority): Date {
  return new Date(Math.min(...[...chain, root].map(({ validToDate }) => validToDate.getTime())))
}

/** From the one that signs up to the root, PEM. */
export function authorityPem({ chain, root }: Authority): string {
  return [...chain, root].map(String).join('')
}

/** What was signed with the one is accepted by whoever knows the other: a certificate can be renewed for the same key. */
export function isSameIssuer(one: X509Certificate, other: X509Certificate): boolean {
  return one.subject === other.subject && one.publicKey.equals(other.publicKey)
}

export function dateOf(time: Date): string {
  return time.toISOString().slice(0, 10)
}

function parseKey(secret: Secret, refuse: (problem: string, hint?: string) => never): KeyObject {
  const pem = secret.reveal()
  try {
    return createPrivateKey(pem)
  } catch {
    if (/-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/mu.test(pem))
      return refuse(
        'its key is encrypted; expected a key without a passphrase',
        'openssl pkey -in KEY -out PLAIN removes the passphrase',
      )
    return refuse('its key cannot be read; expected PEM (PKCS #8, PKCS #1 or SEC 1)')
  }
}

function keyProblem({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): string | undefined {
  const wanted = 'expected RSA of 2048 bits or more, or EC on P-256, P-384 or P-521'
  const { modulusLength = 0, namedCurve = '' } = details
  if (type === 'rsa')
    return modulusLength < FEWEST_RSA_BITS ? `its key has ${modulusLength} bits; ${wanted}` : undefined
  if (type !== 'ec') return `its key is for ${type}; ${wanted}`
  return namedCurve in CURVES ? undefined : `its key is on the curve ${namedCurve}; ${wanted}`
}

function pathToRoot(from: X509Certificate, among: readonly X509Certificate[]): X509Certificate[] | undefined {
  const path = [from]
  for (let at = from; !isSignedBy(at, at); ) {
    const above = among.find((one) => !path.includes(one) && one.ca && isSignedBy(at, one))
    if (above === undefined) return undefined
    path.push(above)
    at = above
  }
  return path
}

export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}
