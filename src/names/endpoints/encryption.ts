// Texts in TXT records that only holders of a key can read, as ExternalDNS encrypts them: gzip, then AES-256-GCM, then
// base64 of nonce (12 bytes), data and tag (16 bytes).

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { HoldfastError } from '../../lib/errors.ts'
import type { Secret } from '../../lib/secret.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/u

/** The key as it is, or as base64 of it. */
export function readAesKey(secret: Secret): Uint8Array {
  const plain = Buffer.from(secret.reveal())
  if (plain.length === KEY_BYTES) return plain
  const decoded = BASE64.test(secret.reveal()) ? Buffer.from(secret.reveal(), 'base64') : Buffer.alloc(0)
  if (decoded.length === KEY_BYTES) return decoded
  throw new HoldfastError(
    'Usage',
    `Cannot use the key of --txt-encrypt-aes-key: it has ${plain.length} bytes; expected ${KEY_BYTES} bytes, plain or as base64`,
    { hint: 'openssl rand -base64 32' },
  )
}

/** Another text each time: a nonce is never used twice. */
export function encryptText(text: string, key: Uint8Array): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce)
  const data = Buffer.concat([cipher.update(gzipSync(text, { level: 9 })), cipher.final()])
  return Buffer.concat([nonce, data, cipher.getAuthTag()]).toString('base64')
}

/** Undefined when it was not encrypted with this key. */
export function decryptText(text: string, key: Uint8Array): string | undefined {
  const bytes = BASE64.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0)
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const data = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
    return gunzipSync(data).toString()
  } catch {
    return undefined
  }
}
