import { format, inspect } from 'node:util'
import { expect, test } from 'vitest'
import { Secret } from './secret.ts'

const secret = new Secret('hunter2')

test('a secret is given only to who asks for it', () => {
  expect(secret.reveal()).toBe('hunter2')
})

test.each([
  ['String()', String(secret)],
  ['JSON', JSON.stringify({ password: secret })],
  ['inspection', inspect({ password: secret }, { showHidden: true, depth: 9 })],
  ['inspection without customs', inspect(secret, { customInspect: false, showHidden: true })],
  ['format', format('%s %o %j', secret, secret, secret)],
  ['a copy', JSON.stringify({ ...secret }) + Object.values(secret).join('')],
  ['a clone for a thread', inspect(structuredClone(secret))],
])('%s does not show it', (_, printed) => {
  expect(printed).not.toContain('hunter2')
})
