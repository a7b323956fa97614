// The way from one authority to another, as machines see it that are changed one after the other: at each moment every
// certificate in use must be trusted by everybody, whether they have been changed already or not.

import { X509Certificate } from 'node:crypto'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openssl, opensslAuthority, type OpensslAuthority } from '../../test/support/openssl.ts'
import type { CertificateRequest } from '../clusters/site.ts'
import { reveal } from '../machine/content.ts'
import { parseCertificates } from '../pki/authority.ts'
import { StackKeyring } from './keyring.ts'

const REQUESTS: readonly CertificateRequest[] = ['etcd-1/server', 'etcd-2/server'].map((id) => ({
  id,
  organization: 'Holdfast',
  domains: ['lab.test'],
  addresses: ['127.0.0.1'],
  usages: ['server', 'client'],
  validityHours: 24 * 365,
  earlyRenewalHours: 24 * 30,
}))

interface Handed {
  readonly trusted: string
  readonly leaf: string
}

let parent = ''
let directory = ''

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'holdfast-authorities-'))
  directory = join(parent, 'secrets')
})

afterEach(() => rmSync(parent, { recursive: true, force: true }))

function open(authority?: OpensslAuthority, now = new Date()): Promise<StackKeyring> {
  return StackKeyring.open(directory, { stack: 'lab', authority, now })
}

function ask(keyring: StackKeyring): Handed {
  const [leaf] = REQUESTS.map((request) => reveal(keyring.certificate(request).certificate))
  return { trusted: reveal(keyring.authority), leaf }
}

async function issue(authority?: OpensslAuthority, now?: Date): Promise<Handed & { readonly keyring: StackKeyring }> {
  const keyring = await open(authority, now)
  ask(keyring)
  await keyring.issue()
  expect(keyring.pending).toEqual([])
  return { keyring, ...ask(keyring) }
}

/** Authorities by their names, in order. */
function names(pem: string): string[] {
  return (parseCertificates(pem) ?? []).map(({ subject }) => /CN=(.*)/u.exec(subject)?.[1] ?? '').toSorted()
}

function signer(leaf: string): string {
  return /CN=(.*)/u.exec(new X509Certificate(leaf).issuer)?.[1] ?? ''
}

async function expectTrust(leaf: string, trusted: string): Promise<void> {
  writeFileSync(join(parent, 'leaf.pem'), leaf)
  writeFileSync(join(parent, 'trusted.pem'), trusted)
  const files = ['-CAfile', join(parent, 'trusted.pem'), '-untrusted', join(parent, 'leaf.pem')]
  expect(await openssl('verify', '-x509_strict', ...files, join(parent, 'leaf.pem'))).toMatch(/: OK\n$/u)
}

describe('another authority', () => {
  test('is trusted first, signs when it is trusted everywhere, and the former stays trusted', async () => {
    const first = await issue()
    const given = await opensslAuthority(parent, 'theirs')

    const planned = await open(given)
    ask(planned)
    const why = 'is another one: it is trusted first, and signs once everything that runs trusts it'
    expect(planned.pending).toEqual([{ id: 'authority', what: 'authority', why }])
    expect(planned.remarks).toEqual([expect.stringContaining('takes over in two rounds')])
    const introduced = await issue(given)
    expect(names(introduced.trusted)).toEqual(['lab authority', 'theirs'])
    expect(introduced.leaf).toBe(first.leaf)
    // Cut short before everything runs with it: still the same step.
    expect((await issue(given)).leaf).toBe(first.leaf)

    expect(await introduced.keyring.settle()).toBe(true)
    const switching = await open(given)
    ask(switching)
    expect(switching.pending).toEqual([
      { id: 'authority', what: 'authority', why: 'is another one: it signs from now on' },
      { id: 'etcd-1/server', what: 'certificate', why: 'was signed by another authority' },
      { id: 'etcd-2/server', what: 'certificate', why: 'was signed by another authority' },
    ])
    const switched = await issue(given)
    expect(names(switched.trusted)).toEqual(['lab authority', 'theirs'])
    // Nothing that trusts has to be restarted for it.
    expect(switched.trusted).toBe(introduced.trusted)
    expect(signer(switched.leaf)).toBe('theirs')
    expect(await switched.keyring.settle()).toBe(false)
    expect(switched.keyring.remarks).toEqual([])
    expect(await issue(given)).toMatchObject({ leaf: switched.leaf, trusted: switched.trusted })
    expect(existsSync(join(directory, 'ca.key'))).toBe(false)

    const steps = [first, introduced, switched]
    for (const [index, { leaf }] of steps.entries()) {
      await expectTrust(leaf, steps[index].trusted)
      if (index > 0) await expectTrust(leaf, steps[index - 1].trusted)
      if (index > 0) await expectTrust(steps[index - 1].leaf, steps[index].trusted)
    }
  })

  test('is the only one trusted when the last certificate of the former has expired', async () => {
    await issue()
    const given = await opensslAuthority(parent, 'theirs')
    await (await issue(given)).keyring.settle()
    await issue(given)
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
    expect(names(reveal((await open(given, inDays(364))).authority))).toEqual(['lab authority', 'theirs'])
    expect(names(reveal((await open(given, inDays(366))).authority))).toEqual(['theirs'])
  })

  test('is the only one trusted at once when the file of the former ones is removed', async () => {
    await issue()
    const given = await opensslAuthority(parent, 'theirs')
    await (await issue(given)).keyring.settle()
    await issue(given)
    expect(readFileSync(join(directory, 'ca-previous.pem'), 'utf8')).toMatch(/^# trusted until \d{4}-\d\d-\d\dT/u)
    rmSync(join(directory, 'ca-previous.pem'))
    expect(names((await issue(given)).trusted)).toEqual(['theirs'])
  })

  test('goes on where it was, when it is interrupted while certificates are issued', async () => {
    await issue()
    const given = await opensslAuthority(parent, 'theirs')
    await (await issue(given)).keyring.settle()
    const interrupted = await open(given)
    interrupted.certificate(REQUESTS[0])
    const abort = new AbortController()
    interrupted.certificate(REQUESTS[1])
    const issuing = interrupted.issue(abort.signal)
    abort.abort(new Error('stop'))
    await expect(issuing).rejects.toThrow('stop')
    const { leaf, trusted } = await issue(given)
    expect([signer(leaf), names(trusted)]).toEqual(['theirs', ['lab authority', 'theirs']])
  })

  test('can be withdrawn on the way, and every certificate it signed stays trusted', async () => {
    const first = await issue()
    const given = await opensslAuthority(parent, 'theirs')
    await (await issue(given)).keyring.settle()
    // One of the two certificates is of the new authority when the user thinks better of it.
    const partly = await open(given)
    partly.certificate(REQUESTS[1])
    const key = readFileSync(join(directory, 'ca.key'))
    await partly.issue()
    writeFileSync(join(directory, 'ca-next.pem'), `# trusted everywhere\n${given.certificate}`)
    writeFileSync(join(directory, 'ca.pem'), first.trusted)
    writeFileSync(join(directory, 'ca.key'), key)

    const back = await open()
    ask(back)
    expect(back.pending).toEqual([
      { id: 'authority', what: 'authority', why: 'is the former one again' },
      { id: 'etcd-2/server', what: 'certificate', why: 'was signed by another authority' },
    ])
    await back.issue()
    expect(back.pending).toEqual([])
    expect(names(ask(back).trusted)).toEqual(['lab authority', 'theirs'])
    expect(existsSync(join(directory, 'ca-next.pem'))).toBe(false)
  })

  test('takes over at once and alone when the former has expired', async () => {
    const past = new Date(Date.now() - 11 * 365 * 86_400_000)
    await issue(undefined, past)
    const given = await opensslAuthority(parent, 'theirs')
    const { leaf, trusted } = await issue(given)
    expect([signer(leaf), names(trusted)]).toEqual(['theirs', ['theirs']])
  })

  test('takes over at once when it stands below the same root', async () => {
    const { certificate: root } = await opensslAuthority(parent, 'root')
    const below = async (name: string) => {
      const { certificate, key } = await opensslAuthority(parent, name, { signedBy: 'root' })
      return { certificate: certificate + root, key }
    }
    await issue(await below('one'))
    const { leaf, trusted } = await issue(await below('other'))
    expect([signer(leaf), names(trusted)]).toEqual(['other', ['root']])
    await expectTrust(leaf, trusted)
  })

  test('after another given one, whose key is gone, signs what is new already while it is introduced', async () => {
    const one = await opensslAuthority(parent, 'one')
    const first = await issue(one)
    const other = await opensslAuthority(parent, 'other')
    const keyring = await open(other)
    const added = { ...REQUESTS[0], id: 'etcd-3/server' }
    keyring.certificate(added)
    await keyring.issue()
    expect(signer(reveal(keyring.certificate(added).certificate))).toBe('other')
    expect(ask(keyring)).toEqual({ leaf: first.leaf, trusted: one.certificate + other.certificate })
  })
})

test('an authority with a renewed certificate for the same key changes no other certificate', async () => {
  const given = await opensslAuthority(parent, 'theirs', { days: 1000 })
  const first = await issue(given)
  const renewed = join(parent, 'renewed.pem')
  const extensions = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign']
  const request = ['req', '-x509', '-config', '/dev/null', '-subj', '/CN=theirs', '-days', '2000', ...extensions]
  await openssl(...request, '-key', join(parent, 'theirs.key'), '-out', renewed)
  const again = { ...given, certificate: readFileSync(renewed, 'utf8') }
  const keyring = await open(again)
  ask(keyring)
  expect(keyring.pending).toEqual([{ id: 'authority', what: 'authority', why: 'has a new certificate' }])
  const { leaf, trusted } = await issue(again)
  expect(leaf).toBe(first.leaf)
  expect(trusted).toBe(again.certificate)
  await expectTrust(leaf, trusted)
  await expectTrust(leaf, first.trusted)
})

test('a damaged list of former authorities is an error that names it', async () => {
  await issue()
  appendFileSync(join(directory, 'ca-previous.pem'), '# trusted until 2030-01-01\nnothing\n')
  await expect(open()).rejects.toMatchObject({
    code: 'StateInvalid',
    message: `Cannot use "${join(directory, 'ca-previous.pem')}": its certificate cannot be read; expected PEM`,
  })
})
