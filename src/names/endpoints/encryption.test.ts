import { expect, it } from 'vitest'
import { Secret } from '../../lib/secret.ts'
import { decryptText, encryptText, readAesKey } from './encryption.ts'

const KEY = '0123456789abcdef0123456789abcdef'
const TEXT = 'heritage=external-dns,external-dns/owner=me,external-dns/resource=ingress/default/web'
/** By ExternalDNS v0.23.0. */
const FROM_EXTERNAL_DNS =
  'wDNRQ7XbkvaXDNgLInpJlGXwl4PcGBhyJ7KN686f6pQzQwgS+XIxj9DprSHSGNsGE81VNNYHxcFkHX6cH9X6lL8gLVwhOsNghe6rtHSasJKre3RWTqSn8gaoftqGeK6C8MgGcKEL72Oyi0GRpUum7Ww7FxE='

const key = readAesKey(new Secret(KEY))

it('what ExternalDNS has encrypted is read', () => {
  expect(decryptText(FROM_EXTERNAL_DNS, key)).toBe(TEXT)
})

it('what is encrypted is read again, and never looks the same twice', () => {
  const texts = [encryptText(TEXT, key), encryptText(TEXT, key)]
  expect(texts.map((text) => decryptText(text, key))).toEqual([TEXT, TEXT])
  expect(texts[0]).not.toBe(texts[1])
})

it('a key is the same as its base64', () => {
  expect(readAesKey(new Secret(Buffer.from(KEY).toString('base64')))).toEqual(key)
})

it('without its key, or changed, a text is not read', () => {
  const other = readAesKey(new Secret(KEY.replace('0', '1')))
  const changed = Buffer.from(FROM_EXTERNAL_DNS, 'base64')
  changed[20] ^= 1
  expect(decryptText(FROM_EXTERNAL_DNS, other)).toBeUndefined()
  expect(decryptText(changed.toString('base64'), key)).toBeUndefined()
  expect(['', 'AAAA', TEXT].map((text) => decryptText(text, key))).toEqual([undefined, undefined, undefined])
})

it('a key of another length is refused without being shown', () => {
  expect(() => readAesKey(new Secret('not 32 bytes'))).toThrow(
    'Cannot use the key of --txt-encrypt-aes-key: it has 12 bytes; expected 32 bytes, plain or as base64',
  )
})
