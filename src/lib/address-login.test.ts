import { expect, test } from 'vitest'
import { hasLogin } from './address-login.ts'

test.each([
  'https://user:password@host/debian',
  'https://token@host',
  'deb [signed-by=/a] HTTPS://:password@host/debian bookworm main',
  'tor+https://user:p%40ss@[2001:db8::1]:8443/',
  'https://user:pass@word@host/',
])('%s has a login', (text) => {
  expect(hasLogin(text)).toBe(true)
})

test.each([
  'https://host/debian',
  'https://host/a@b',
  'https://host?who=a@b',
  'deb [signed-by=/a@b] https://host/debian bookworm main',
  'user@host',
])('%s has none', (text) => {
  expect(hasLogin(text)).toBe(false)
})
