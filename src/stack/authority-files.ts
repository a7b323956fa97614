// The authorities of a stack as files among its secrets: `ca.pem` and, of one made for the stack, `ca.key`; `ca-next.pem`, one
// that takes over; `ca-previous.pem`, those that signed before, each with a line that says how long it is trusted. The key
// of an authority given by the user is never kept.

import type { X509Certificate } from 'node:crypto'
import { HoldfastError } from '../lib/errors.ts'
import { Secret } from '../lib/secret.ts'
import { type Authority, authorityPem, endOf, isSignedBy, loadAuthority, parseCertificates } from '../pki/authority.ts'
import { isSame, type KeptAuthorities, type PreviousAuthority } from './authority-standing.ts'
import type { SecretFiles } from './secret-files.ts'

const CURRENT = 'ca.pem'
const KEY = 'ca.key'
const NEXT = 'ca-next.pem'
const PREVIOUS = 'ca-previous.pem'
const EVERYWHERE = '# trusted everywhere\n'
const UNTIL = /^# trusted until (.+)$/mu

/** All certificates that are kept, without those of authorities: the name of the file without `.pem`, and what it holds. */
export function keptCertificates(files: SecretFiles): Map<string, X509Certificate> {
  const names = files.names.filter((name) => name.endsWith('.pem') && ![CURRENT, NEXT, PREVIOUS].includes(name))
  return new Map(
    names.flatMap((name) => {
      const [certificate] = parseCertificates(files.get(name) ?? '') ?? []
      return certificate === undefined ? [] : [[name.slice(0, -'.pem'.length), certificate] as const]
    }),
  )
}

export function loadAuthorities(files: SecretFiles, now: Date): KeptAuthorities {
  const key = files.get(KEY)
  return {
    current: load(files, CURRENT, files.get(CURRENT), key === undefined ? undefined : new Secret(key)),
    next: load(files, NEXT, files.get(NEXT)),
    isNextTrustedEverywhere: files.get(NEXT)?.startsWith(EVERYWHERE) === true,
    previous: loadPrevious(files).filter(({ until }) => until > now),
  }
}

export async function saveMade(files: SecretFiles, certificate: string, key: Secret): Promise<void> {
  await files.write(KEY, key.reveal())
  await files.flush()
  await files.write(CURRENT, certificate)
  await files.flush()
}

/** From now on it is the current one. The key there may be, of another one, goes first: the two must never differ. */
export async function saveCurrent(files: SecretFiles, authority: Authority, kept: KeptAuthorities): Promise<void> {
  if (!isSame(kept.current, authority)) await files.remove(KEY)
  await files.flush()
  await files.write(CURRENT, authorityPem(authority))
  if (isSame(kept.next, authority)) await files.remove(NEXT)
  await files.flush()
}

export async function saveNext(files: SecretFiles, authority: Authority, isTrustedEverywhere: boolean): Promise<void> {
  await files.write(NEXT, `${isTrustedEverywhere ? EVERYWHERE : ''}${authorityPem(authority)}`)
  await files.flush()
}

export async function removeNext(files: SecretFiles): Promise<void> {
  await files.remove(NEXT)
}

/** Has it trusted until the last certificate that it signed has expired. */
export async function savePrevious(files: SecretFiles, authority: Authority): Promise<void> {
  const signed = [...keptCertificates(files).values()].filter((one) => isSignedBy(one, authority.certificate))
  const all = loadPrevious(files)
  const known = all.find((previous) => isSame(previous.authority, authority))
  const ends = [...signed.map(({ validToDate }) => validToDate), ...(known === undefined ? [] : [known.until])]
  if (ends.length === 0) return
  const until = new Date(Math.max(...ends.map(Number)))
  const sections = [{ authority, until }, ...all.filter((previous) => previous !== known)]
  const texts = sections.map((one) => `# trusted until ${one.until.toISOString()}\n${authorityPem(one.authority)}`)
  await files.write(PREVIOUS, texts.join(''))
  await files.flush()
}

function loadPrevious(files: SecretFiles): PreviousAuthority[] {
  const sections = (files.get(PREVIOUS) ?? '').split(/^(?=# trusted until )/mu).filter((text) => text.trim() !== '')
  return sections.flatMap((text) => {
    const authority = load(files, PREVIOUS, text)
    const until = new Date(UNTIL.exec(text)?.[1] ?? Number.NaN)
    if (authority === undefined) return []
    return [{ authority, until: Number.isNaN(until.getTime()) ? endOf(authority) : until }]
  })
}

/** What cannot be used is an error: a new authority in its place would cut off everything that runs. */
function load(files: SecretFiles, name: string, text: string | undefined, key?: Secret): Authority | undefined {
  if (text === undefined) return undefined
  try {
    return loadAuthority(`"${files.path(name)}"`, text, key)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const hint = 'What runs trusts this authority: restore the file from a backup'
    throw new HoldfastError('StateInvalid', error.message, { hint, cause: error })
  }
}
