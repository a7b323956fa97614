import { X509Certificate } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { needing } from '../../test/support/needing.ts'
import { opensslAuthority } from '../../test/support/openssl.ts'
import type { CertificateRequest } from '../clusters/site.ts'
import { Secret } from '../lib/secret.ts'
import { hasSecrets, reveal, show } from '../machine/content.ts'
import { type KeyringOptions, StackKeyring } from './keyring.ts'

const now = new Date('2026-11-16T12:00:00Z')
const SERVER: CertificateRequest = {
  id: 'etcd-1/server',
  organization: 'Holdfast',
  domains: ['etcd-1.lab.test'],
  addresses: ['127.0.0.1'],
  usages: ['server', 'client'],
  validityHours: 24 * 365,
  earlyRenewalHours: 24 * 30,
}
const USER: CertificateRequest = { ...SERVER, id: 'etcd-user/../zones', commonName: 'zones', usages: ['client'] }

let parent = ''
let directory = ''

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'holdfast-keyring-'))
  directory = join(parent, 'lab', 'secrets')
})

afterEach(() => rmSync(parent, { recursive: true, force: true }))

function open(options: Partial<KeyringOptions> = {}): Promise<StackKeyring> {
  return StackKeyring.open(directory, { stack: 'lab', now, ...options })
}

/** Asks for a password and two certificates. */
function ask(keyring: StackKeyring) {
  return {
    password: keyring.secret('etcd-root-password').reveal(),
    server: reveal(keyring.certificate(SERVER).certificate),
    key: reveal(keyring.certificate(SERVER).key),
    user: reveal(keyring.certificate(USER).certificate),
    authority: reveal(keyring.authority),
  }
}

async function issueAll(options: Partial<KeyringOptions> = {}) {
  const keyring = await open(options)
  ask(keyring)
  await keyring.issue()
  return ask(keyring)
}

function files(): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

describe('what is not there yet', () => {
  test('is noted and has a placeholder; nothing is written', async () => {
    const keyring = await open()
    const { certificate, key } = keyring.certificate(SERVER)
    expect(show(certificate)).toBe('(certificate to be issued: is new)\n')
    expect(key.every((part) => part instanceof Secret)).toBe(true)
    expect(show(keyring.authority)).toBe('(authority to be made)\n')
    keyring.secret('etcd-root-password')
    keyring.secret('given-password', new Secret('given'))
    expect(keyring.pending).toEqual([
      { id: 'authority', what: 'authority', why: 'is new' },
      { id: 'etcd-root-password', what: 'secret', why: 'is new' },
      { id: 'etcd-1/server', what: 'certificate', why: 'is new' },
    ])
    expect(existsSync(join(parent, 'lab'))).toBe(false)
  })

  test('is made by issue, and stays the same from then on', async () => {
    const keyring = await open()
    ask(keyring)
    await keyring.issue()
    expect(keyring.pending).toEqual([])
    const made = ask(keyring)
    expect(made.password).toMatch(/^[A-Za-z0-9]{32}$/u)
    const authority = new X509Certificate(made.authority)
    expect(authority.subject).toBe('O=Holdfast\nCN=lab authority')
    for (const pem of [made.server, made.user]) expect(new X509Certificate(pem).verify(authority.publicKey)).toBe(true)
    const again = await open()
    expect(ask(again)).toEqual(made)
    expect(again.pending).toEqual([])
    await again.issue()
    expect(ask(again)).toEqual(made)
  })

  test('is written for nobody else to read, and nowhere else', async () => {
    await issueAll()
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(files().toSorted()).toEqual(
      [
        'ca.key',
        'ca.pem',
        'etcd-1/server.key',
        'etcd-1/server.pem',
        'etcd-root-password',
        'etcd-user/%2E./zones.key',
        'etcd-user/%2E./zones.pem',
      ].map((name) => join(directory, name)),
    )
    expect(files().filter((path) => (statSync(path).mode & 0o777) !== 0o600)).toEqual([])
    expect(readdirSync(join(parent, 'lab'))).toEqual(['secrets'])
  })

  test('shows nothing of its keys', async () => {
    const keyring = await open()
    ask(keyring)
    await keyring.issue()
    const { certificate, key } = keyring.certificate(SERVER)
    expect([hasSecrets(certificate), hasSecrets(key)]).toEqual([false, true])
    expect(show(key) + inspect(keyring, { depth: 10, showHidden: true }) + JSON.stringify(keyring)).not.toContain(
      'PRIVATE',
    )
  })

  test('is made once when several ask at the same time', async () => {
    const [one, other] = [await open(), await open()]
    ask(one)
    ask(other)
    await one.issue()
    await other.issue()
    expect(ask(other)).toEqual(ask(one))
  })

  test('stays to be made when issuing is interrupted', async () => {
    const keyring = await open()
    ask(keyring)
    await expect(keyring.issue(AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
    const again = await open()
    ask(again)
    expect(again.pending.map(({ id }) => id)).toEqual(['etcd-root-password', 'etcd-1/server', 'etcd-user/../zones'])
    await again.issue()
    expect(again.pending).toEqual([])
  })
})

describe('a secret of the stack file', () => {
  test('is used as it is, and stays in use when it is taken out of the file', async () => {
    const keyring = await open()
    expect(keyring.secret('p', new Secret('one\n')).reveal()).toBe('one\n')
    expect(keyring.pending.map(({ id }) => id)).toEqual(['authority'])
    await keyring.issue()
    expect((await open()).secret('p').reveal()).toBe('one\n')
  })

  test('that changes is noted, and is the one from then on', async () => {
    const first = await open()
    first.secret('p', new Secret('one'))
    await first.issue()
    const second = await open()
    expect(second.secret('p', new Secret('two')).reveal()).toBe('two')
    expect(second.pending).toEqual([{ id: 'p', what: 'secret', why: 'is another one in the stack file' }])
    await second.issue()
    expect(second.pending).toEqual([])
    expect((await open()).secret('p').reveal()).toBe('two')
  })
})

describe('a certificate that does not fit any more', () => {
  test('is issued again with a new key, for the reason given', async () => {
    const before = await issueAll()
    const keyring = await open()
    const changed = { ...SERVER, addresses: ['127.0.0.1', '10.0.0.1'] }
    expect(show(keyring.certificate(changed).certificate)).toBe(
      '(certificate to be issued: is not valid for 10.0.0.1)\n',
    )
    keyring.certificate(USER)
    expect(keyring.pending.map(({ id }) => id)).toEqual(['etcd-1/server'])
    await keyring.issue()
    const { certificate, key } = keyring.certificate(changed)
    expect(new X509Certificate(reveal(certificate)).subjectAltName).toContain('10.0.0.1')
    expect(reveal(key)).not.toBe(before.key)
    expect(ask(await open()).user).toBe(before.user)
  })

  test('is renewed before it expires', async () => {
    await issueAll()
    const later = new Date('2027-10-20T00:00:00Z')
    const keyring = await open({ now: later })
    ask(keyring)
    expect(keyring.pending[0]).toEqual({ id: 'etcd-1/server', what: 'certificate', why: 'expires in 27 days' })
    await keyring.issue()
    expect(keyring.pending).toEqual([])
    expect(keyring.expiries().get('etcd-1/server')?.getTime()).toBeGreaterThan(Date.parse('2028-10-01'))
    expect([...keyring.expiries().keys()].toSorted()).toEqual(['authority', 'etcd-1/server', 'etcd-user/../zones'])
  })

  test.each([
    ['is empty', 'server.pem', 0, 'cannot be read'],
    ['is cut off', 'server.pem', 300, 'cannot be read'],
    ['has a key that is cut off', 'server.key', 100, 'has lost its key'],
  ])('because its file %s is issued again', async (_, name, length, why) => {
    await issueAll()
    truncateSync(join(directory, 'etcd-1', name), length)
    const keyring = await open()
    ask(keyring)
    expect(keyring.pending).toEqual([{ id: 'etcd-1/server', what: 'certificate', why }])
    await keyring.issue()
    expect(ask(await open()).server).toMatch(/^-----BEGIN CERTIFICATE/u)
  })

  test('because it was written without its key is issued again', async () => {
    const before = await issueAll()
    const user = readFileSync(join(directory, 'etcd-user/%2E./zones.key'))
    writeFileSync(join(directory, 'etcd-1/server.key'), user)
    const keyring = await open()
    ask(keyring)
    expect(keyring.pending).toEqual([{ id: 'etcd-1/server', what: 'certificate', why: 'has lost its key' }])
    await keyring.issue()
    expect(ask(keyring).key).not.toBe(before.key)
  })

  test('leaves nothing of a write that was cut short', async () => {
    await issueAll()
    const leftover = join(directory, 'etcd-1', '.server.key.0123456789ab.tmp')
    writeFileSync(leftover, 'half a k')
    const keyring = await open()
    ask(keyring)
    expect(keyring.pending).toEqual([])
    await keyring.issue()
    expect(existsSync(leftover)).toBe(false)
  })
})

describe('an authority that exists but cannot be used', () => {
  const HINT = 'What runs trusts this authority: restore the file from a backup'

  test.each([
    ['ca.pem', 0, 'its certificate cannot be read; expected PEM'],
    ['ca.pem', 200, 'its certificate cannot be read; expected PEM'],
    ['ca.key', 0, 'its key cannot be read; expected PEM (PKCS #8, PKCS #1 or SEC 1)'],
  ])('is an error that names the file, and never replaced: %s with %d bytes', async (name, length, problem) => {
    await issueAll()
    truncateSync(join(directory, name), length)
    await expect(open()).rejects.toMatchObject({
      code: 'StateInvalid',
      message: `Cannot use "${join(directory, 'ca.pem')}": ${problem}`,
      hint: HINT,
    })
  })

  test('is an error when it is gone, but certificates it signed are there', async () => {
    await issueAll()
    rmSync(join(directory, 'ca.pem'))
    await expect(open()).rejects.toMatchObject({
      code: 'StateInvalid',
      message: `Cannot read "${join(directory, 'ca.pem')}": it is not there, but certificates it signed are`,
    })
  })

  test('is an error when it has another key', async () => {
    await issueAll()
    writeFileSync(join(directory, 'ca.key'), readFileSync(join(directory, 'etcd-1/server.key')))
    await expect(open()).rejects.toThrow('its certificate does not match its key')
  })

  test('does for certificates that fit, when only its key is missing', async () => {
    const made = await issueAll()
    rmSync(join(directory, 'ca.key'))
    const keyring = await open()
    expect(ask(keyring)).toEqual(made)
    expect(() => keyring.certificate({ ...SERVER, id: 'etcd-2/server' })).toThrow(
      `Cannot issue the certificate "etcd-2/server": the key of the authority is not there ("${directory}/ca.key")`,
    )
  })

  test('signs nothing when it has expired', async () => {
    await issueAll()
    const keyring = await open({ now: new Date('2037-01-01') })
    expect(() => ask(keyring)).toThrow(
      'Cannot issue the certificate "etcd-1/server": the authority expired on 2036-11-16',
    )
  })

  test('is made anew when the first attempt stopped before its certificate was written', async () => {
    const interrupted = await open()
    await interrupted.issue()
    rmSync(join(directory, 'ca.pem'))
    const { server, authority } = await issueAll()
    expect(new X509Certificate(server).verify(new X509Certificate(authority).publicKey)).toBe(true)
  })
})

test('an empty secret is an error that names the file, unless the stack file gives it', async () => {
  await issueAll()
  truncateSync(join(directory, 'etcd-root-password'), 0)
  const keyring = await open()
  expect(() => keyring.secret('etcd-root-password')).toThrow(
    `Cannot read "${join(directory, 'etcd-root-password')}": it is empty; expected a secret`,
  )
  expect(keyring.secret('etcd-root-password', new Secret('x')).reveal()).toBe('x')
})

test('a file that cannot be read is named', async () => {
  await issueAll()
  rmSync(join(directory, 'ca.key'))
  symlinkSync('nowhere', join(directory, 'ca.key'))
  await expect(open()).rejects.toMatchObject({
    code: 'FileUnreadable',
    message: `Cannot read "${join(directory, 'ca.key')}": no such file or directory`,
  })
})

test('a directory that cannot be made is named', async () => {
  writeFileSync(join(parent, 'lab'), 'a file in the way')
  await expect(open()).rejects.toMatchObject({
    code: 'FileUnreadable',
    message: `Cannot read "${directory}": not a directory`,
  })
})

needing('openssl').describe("the user's own authority", () => {
  test('signs, and its key is not kept', async () => {
    const given = await opensslAuthority(parent, 'theirs')
    const { authority, server } = await issueAll({ authority: given, now: new Date() })
    expect(authority).toBe(given.certificate)
    expect(new X509Certificate(server).issuer).toBe('CN=theirs')
    expect(readdirSync(directory)).not.toContain('ca.key')
    const contents = files().map((path) => readFileSync(path, 'utf8'))
    expect(contents).not.toContain(given.key.reveal())
    const without = await open({ now: new Date() })
    expect(ask(without).server).toBe(server)
    expect(without.pending).toEqual([])
  })

  test('below others is sent along with certificates, and only the root is trusted', async () => {
    const root = await opensslAuthority(parent, 'root')
    const { certificate, key } = await opensslAuthority(parent, 'middle', { signedBy: 'root' })
    const given = { certificate: certificate + root.certificate, key }
    const { authority, server } = await issueAll({ authority: given, now: new Date() })
    expect(authority).toBe(root.certificate)
    expect(server.endsWith(certificate)).toBe(true)
    expect(server.match(/BEGIN/gu)).toHaveLength(2)
  })

  test('is refused at once when it has expired', async () => {
    const given = await opensslAuthority(parent, 'theirs', { days: 1 })
    const later = new Date(Date.now() + 2 * 86_400_000)
    await expect(open({ authority: given, now: later })).rejects.toMatchObject({
      code: 'AuthorityInvalid',
      message: expect.stringMatching(/^Cannot use the given certificate authority: it expired on /u),
    })
  })
})

test('what is in use is what was issued, until the stack file is applied', async () => {
  const keyring = await open()
  keyring.secret('root-password', new Secret('first'))
  keyring.certificate(SERVER)
  await keyring.issue()
  const issued = keyring.certificate(SERVER)

  const edited = await open()
  expect(edited.secret('root-password', new Secret('second')).reveal()).toBe('second')
  const inUse = edited.inUse()
  expect(inUse.secret('root-password', new Secret('second')).reveal()).toBe('first')
  expect(inUse.secret('other', new Secret('given')).reveal()).toBe('given')
  expect(reveal(inUse.certificate({ ...SERVER, domains: ['other.test'] }).certificate)).toBe(reveal(issued.certificate))
})
