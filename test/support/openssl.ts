// Authorities and certificates as users bring them, made with openssl: with any kind of key, format and fault.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Secret } from '../../src/lib/secret.ts'

const run = promisify(execFile)

export interface OpensslAuthority {
  readonly certificate: string
  readonly key: Secret
}

interface AuthorityOptions {
  /** Of `openssl genpkey`; default EC on P-256. */
  readonly key?: readonly string[]
  readonly subject?: string
  readonly days?: number
  readonly isCa?: boolean
  readonly signedBy?: string
  /** More arguments for `openssl req -x509`. */
  readonly more?: readonly string[]
}

export const EC_P256 = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256']
export const EC_P384 = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384']
export const RSA_2048 = ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048']

export async function openssl(...args: readonly string[]): Promise<string> {
  return (await run('openssl', args)).stdout
}

/** Leaves `<name>.pem` and `<name>.key` in the directory. */
export async function opensslAuthority(
  directory: string,
  name: string,
  { key = EC_P256, subject = `/CN=${name}`, days = 3650, isCa = true, signedBy, more = [] }: AuthorityOptions = {},
): Promise<OpensslAuthority> {
  const at = (file: string) => join(directory, file)
  await openssl('genpkey', ...key, '-out', at(`${name}.key`))
  const by = signedBy === undefined ? [] : ['-CA', at(`${signedBy}.pem`), '-CAkey', at(`${signedBy}.key`)]
  const extensions = [
    `basicConstraints=critical,CA:${isCa ? 'TRUE' : 'FALSE'}`,
    `keyUsage=critical,${isCa ? 'keyCertSign,cRLSign' : 'digitalSignature'}`,
  ]
  await openssl(
    ...['req', '-x509', '-config', '/dev/null', '-subj', subject, '-days', String(days), ...by, ...more],
    ...extensions.flatMap((extension) => ['-addext', extension]),
    ...['-key', at(`${name}.key`), '-out', at(`${name}.pem`)],
  )
  return {
    certificate: readFileSync(at(`${name}.pem`), 'utf8'),
    key: new Secret(readFileSync(at(`${name}.key`), 'utf8')),
  }
}
