import { expect, test } from 'vitest'
import { Secret } from '../../../lib/secret.ts'
import { refusalOf } from './webhook-guard.ts'

const TYPE = 'application/external.dns.webhook+json;version=1'
const OPEN = { hosts: ['webhook.dns.svc'], password: undefined }
const LOCKED = { hosts: [], password: new Secret('s3cret:with colon') }
const basic = (login: string) => `Basic ${Buffer.from(login).toString('base64')}`

test.each([
  ['localhost:8888'],
  ['127.0.0.1:8888'],
  ['[::1]:8888'],
  ['10.0.0.7'],
  ['Webhook.dns.svc:8888'],
  ['webhook.dns.svc.'],
  [undefined],
])('ExternalDNS passes with Host %s', (host) => {
  const headers = { ...(host !== undefined && { host }), 'content-type': TYPE }
  expect(refusalOf({ method: 'POST', headers }, OPEN)).toBeUndefined()
})

test.each([
  ['evil.example'],
  ['evil.example:8888'],
  ['localhost.evil.example'],
  ['webhook.dns'],
  ['1.2.3.4.evil'],
  [''],
])('a page that rebinds its name does not pass with Host %s', (host) => {
  expect(refusalOf({ method: 'GET', headers: { host } }, OPEN)).toMatchObject({ status: 403 })
})

test.each([[{ origin: 'http://evil.example' }], [{ origin: 'null' }], [{ 'sec-fetch-site': 'cross-site' }]])(
  'a browser with %j does not pass',
  (headers) => {
    expect(refusalOf({ method: 'GET', headers: { host: 'localhost', ...headers } }, OPEN)).toMatchObject({
      status: 403,
    })
  },
)

test.each([['text/plain'], ['application/json'], ['application/external.dns.webhook+jsonx'], [undefined]])(
  'content type %s is refused',
  (type) => {
    const headers = { host: 'localhost', ...(type !== undefined && { 'content-type': type }) }
    expect(refusalOf({ method: 'POST', headers }, OPEN)).toMatchObject({ status: 415 })
    expect(refusalOf({ method: 'GET', headers }, OPEN)).toBeUndefined()
  },
)

test('a password is expected of every request where one is set', () => {
  const ask = (authorization?: string) =>
    refusalOf(
      { method: 'GET', headers: { host: 'localhost', ...(authorization !== undefined && { authorization }) } },
      LOCKED,
    )
  expect(ask()).toMatchObject({ status: 401 })
  for (const wrong of [basic('x:'), basic('s3cret:with colon'), basic('x:s3cret'), 'Bearer x', 'Basic', 'Basic !'])
    expect(ask(wrong)).toMatchObject({ status: 401 })
  expect(ask(basic('externaldns:s3cret:with colon'))).toBeUndefined()
  expect(ask(basic(':s3cret:with colon'))).toBeUndefined()
})
