// Certificates that a stack file brings along, made with openssl as users make them.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { opensslAuthority, RSA_2048 } from '../../../test/support/openssl.ts'
import { load, problems } from './testing.ts'

const HEAD = 'name: lab\ndomain: lab.test\nnetwork: 127.77.0.0/16\n'
const MEMBER = 'subjectAltName=IP:127.77.10.1,IP:127.0.0.1'
const BOTH_USES = 'extendedKeyUsage=serverAuth,clientAuth'

let directory = ''
let files: Record<string, string> = {}

async function make(name: string, options: Parameters<typeof opensslAuthority>[2]): Promise<void> {
  await opensslAuthority(directory, name, options)
  for (const file of [`${name}.pem`, `${name}.key`]) files[file] = readFileSync(join(directory, file), 'utf8')
}

async function server(name: string, subject: string, ...extensions: readonly string[]): Promise<void> {
  const more = extensions.flatMap((extension) => ['-addext', extension])
  await make(name, { isCa: false, signedBy: 'ca', subject, more })
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-certificates-'))
  await make('ca', {})
  await make('rsa', { key: RSA_2048 })
  await server('good', '/O=lab', MEMBER, BOTH_USES)
  await server('elsewhere', '/O=lab', 'subjectAltName=IP:10.0.0.1', BOTH_USES)
  await server('one-use', '/O=lab', MEMBER, 'extendedKeyUsage=serverAuth')
  await server('root-user', '/CN=root', MEMBER, BOTH_USES)
  await server('given-user', '/CN=grafana', MEMBER, BOTH_USES)
  await make('other', {})
})

afterAll(() => {
  rmSync(directory, { recursive: true })
  files = {}
})

describe('an authority', () => {
  const ca = (certificate: string, key: string, more = '') =>
    `${HEAD}etcd: { members: 1 }\nca: { certificate: { file: ${certificate}.pem }, key: { file: ${key}.key }${more} }`

  test.each([
    ['ca', 'ECDSA'],
    ['rsa', 'RSA'],
  ])('with its key is taken: %s', async (name, algorithm) => {
    for (const spelling of ['key_algorithm', 'key_algorithmn']) {
      const { authority } = await load(ca(name, name, `, ${spelling}: ${algorithm}`), { files })
      expect(authority?.certificate).toBe(files[`${name}.pem`])
      expect(`${authority?.key.reveal()}\n`).toBe(files[`${name}.key`])
    }
  })

  test('may stand where the variables of PostgreSQL servers have it', async () => {
    const inline = (text: string) => JSON.stringify(text)
    const block = `{ certificate: ${inline(files['ca.pem'])}, key: ${inline(files['ca.key'])}, key_algorithmn: ECDSA }`
    const { authority } = await load(
      `${HEAD}etcd: { members: 1 }\npostgres: { members: [{ name: a, postgres: { ca: &ca ${block} } }, { name: b, postgres: { ca: *ca } }] }`,
    )
    expect(authority?.certificate).toBe(files['ca.pem'])
  })

  test.each([
    [
      'that does not match its key',
      'ca',
      'other',
      '',
      '5:5: ca: its certificate does not match its key; they must be a pair',
    ],
    ['that is none', 'good', 'good', '', '5:5: ca: its certificate is not one of an authority; '],
    [
      'of another algorithm than it says',
      'ca',
      'ca',
      ', key_algorithm: RSA',
      'ca.key_algorithm: "RSA" is not the type of the key; expected "ECDSA", or no "key_algorithm"',
    ],
  ])('%s is refused', async (_, certificate, key, more, message) => {
    const found = await problems(ca(certificate, key, more), { files })
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(message)
  })

  test('that is another one elsewhere in the file is refused', async () => {
    const found = await problems(
      `${ca('ca', 'ca')}\npostgres: { members: 2, ca: { certificate: { file: other.pem }, key: { file: other.key } } }`,
      { files },
    )
    expect(found).toEqual(['6:29: postgres.ca: it differs from ca; expected the same for the whole cluster'])
  })
})

describe('the certificate of a member', () => {
  const stack = (certificate: string, key = certificate, ca = 'ca') =>
    `${HEAD}etcd:
  users: [{ name: grafana, permissions: [{ access: read, prefix: /a/ }] }]
  members:
    - name: etcd-1
      tls: { ca_cert: { file: ${ca}.pem }, server_cert: { file: ${certificate}.pem }, server_key: { file: ${key}.key } }`

  test('with its key is taken', async () => {
    const { etcd } = await load(stack('good'), { files })
    expect(etcd?.members[0].tls).toMatchObject({ caCert: files['ca.pem'], serverCert: files['good.pem'] })
    expect(String(etcd?.members[0].tls?.serverKey)).toBe('***')
  })

  test.each<[string, [string, string?, string?], string[]]>([
    [
      'that is not valid for its addresses',
      ['elsewhere'],
      [
        'server_cert: it is not valid for 127.77.10.1; expected one with this address',
        'server_cert: it is not valid for 127.0.0.1; expected one with this address',
      ],
    ],
    [
      'with another key',
      ['good', 'other'],
      ['server_key: it is not the key of "server_cert"; expected the one that belongs to it'],
    ],
    [
      'from another authority',
      ['good', 'good', 'other'],
      ['server_cert: it is not signed by "ca_cert"; expected the authority that signed it'],
    ],
    ['for servers only', ['one-use'], ['server_cert: it is not for both servers and clients; expected both uses']],
    [
      'that is root',
      ['root-user'],
      [`server_cert: its common name is etcd's user "root", as whom anybody could act; expected another one`],
    ],
    [
      'that is a user of the file',
      ['given-user'],
      [`server_cert: its common name is etcd's user "grafana", as whom anybody could act`],
    ],
  ])('%s is refused', async (_, names, messages) => {
    const found = await problems(stack(...names), { files })
    expect(found).toHaveLength(messages.length)
    for (const [index, message] of messages.entries()) {
      expect(found[index]).toMatch(/^8:\d+: etcd\.members\[0\]\.tls\./u)
      expect(found[index]).toContain(message)
    }
  })

  test('that is no PEM is refused', async () => {
    const found = await problems(
      `${HEAD}etcd: { members: [{ name: a, tls: { ca_cert: a, server_cert: b, server_key: c } }] }`,
    )
    expect(found).toEqual([
      '4:46: etcd.members[0].tls.ca_cert: it is not a certificate; expected one as PEM text',
      '4:62: etcd.members[0].tls.server_cert: it is not a certificate; expected one as PEM text',
      '4:77: etcd.members[0].tls.server_key: it is not a private key; expected one as PEM text, without a passphrase',
    ])
  })

  test('is there for all members or none', async () => {
    expect(await problems(`${stack('good')}\n    - name: etcd-2\n    - name: etcd-3`, { files })).toEqual([
      '9:7: etcd.members[1]: it has no "tls" while etcd.members[0].tls is given; expected it for all members or none',
      '10:7: etcd.members[2]: it has no "tls" while etcd.members[0].tls is given; expected it for all members or none',
    ])
  })
})
