import { expect, test } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { content, hasSecrets, jsonContent, plain, reveal, show } from './content.ts'

const secret = new Secret('hunter"2')

test('a secret in a text is written, but never shown', () => {
  const text = content`user=${'a'} port=${5432} password=${secret}\n`
  expect(reveal(text)).toBe('user=a port=5432 password=hunter"2\n')
  expect(show(text)).toBe('user=a port=5432 password=***\n')
})

test('texts can be put into texts', () => {
  const inner = content`[${secret}]`
  expect(reveal(content`a${inner}b`)).toBe('a[hunter"2]b')
  expect(show(content`a${inner}b`)).toBe('a[***]b')
})

test('secrets in JSON are written as JSON, wherever they stand', () => {
  const value = { a: { password: secret }, list: [secret, 'x'], text: 'plain' }
  expect(JSON.parse(reveal(jsonContent(value)))).toEqual({
    a: { password: 'hunter"2' },
    list: ['hunter"2', 'x'],
    text: 'plain',
  })
  expect(show(jsonContent(value))).not.toContain('hunter')
})

test('a text that looks like a mark of a secret stays what it is', () => {
  const value = { text: '\u00000\u0000', password: secret }
  expect(JSON.parse(reveal(jsonContent(value)))).toEqual({ text: '\u00000\u0000', password: 'hunter"2' })
})

test('a text knows whether there are secrets in it', () => {
  expect(hasSecrets(plain('x'))).toBe(false)
  expect(hasSecrets(content`${secret}`)).toBe(true)
})
