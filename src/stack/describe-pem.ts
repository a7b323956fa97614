// Certificates and keys in one line, for people who look at a plan: what they are for and how long, never their bytes.

import { X509Certificate } from 'node:crypto'

export function isPem(text: string): boolean {
  return text.startsWith('-----BEGIN ')
}

export function describePem(text: string): string {
  if (!text.startsWith('-----BEGIN CERTIFICATE')) return '(private key)'
  try {
    const { subject, subjectAltName, validTo } = new X509Certificate(text)
    const names = (subjectAltName ?? subject ?? '').replaceAll(/(?:DNS|IP Address):/gu, '').replaceAll('\n', ', ')
    return `(certificate for ${names} until ${new Date(validTo).toISOString().slice(0, 10)})`
  } catch {
    return '(certificate that cannot be read)'
  }
}
