// Certificates and keys in a line each, for people who look at a plan: what they are for and how long, never their bytes.

import { X509Certificate } from 'node:crypto'

export function isPem(text: string): boolean {
  return text.startsWith('-----BEGIN ')
}

/** Of all that the text has, in order. */
export function describePem(text: string): string[] {
  const blocks = text.match(/-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----/gsu) ?? []
  return blocks.map((block) => (block.startsWith('-----BEGIN CERTIFICATE') ? describe(block) : '(private key)'))
}

function describe(certificate: string): string {
  try {
    const { subject, subjectAltName, validTo } = new X509Certificate(certificate)
    const names = (subjectAltName ?? subject ?? '').replaceAll(/(?:DNS|IP Address):/gu, '').replaceAll('\n', ', ')
    return `(certificate for ${names} until ${new Date(validTo).toISOString().slice(0, 10)})`
  } catch {
    return '(certificate that cannot be read)'
  }
}
