// The credentials of a stack, kept in one directory. Asked for something that is missing or does not fit any more it
// gives a placeholder and takes note; `issue` makes all that was noted, and then the same questions get real answers.

import { createPrivateKey, type KeyObject, randomInt, type X509Certificate } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { CertificateRequest, CertifiedKey, Keyring } from '../clusters/site.ts'
import { HoldfastError } from '../lib/errors.ts'
import { Secret } from '../lib/secret.ts'
import { type Content, plain } from '../machine/content.ts'
import { type Authority, parseCertificates } from '../pki/authority.ts'
import { fits } from '../pki/fits.ts'
import { Authorities, type AuthorityOptions } from './authorities.ts'
import { keptCertificates } from './authority-files.ts'
import { SecretFiles } from './secret-files.ts'

export interface KeyringOptions extends Omit<AuthorityOptions, 'now'> {
  readonly now?: Date
}

export interface PendingCredential {
  readonly id: string
  readonly what: 'secret' | 'certificate' | 'authority'
  /** In words that follow its name: `is new`, `expires in 3 days`. */
  readonly why: string
}

/** A request, and the certificate there is for it, or why there is none. */
interface Checked {
  readonly request: CertificateRequest
  readonly found: CertifiedKey | string
}

const AUTHORITY = 'authority'
const NEW = 'is new'
const SIGNER_HINT = 'restore ca.pem and ca.key from a backup, or give an authority with its key in the stack file'
const ROUNDS =
  'another authority takes over in two rounds of one "up": first everything trusts it, which is the plan shown here; then everything gets certificates that it signed, and services reload or restart once more'
const PASSWORD_LENGTH = 32
/** Need no quotes in environment files, YAML, pgpass and connection strings. */
const PASSWORD_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** Keys and signatures are made beside the main thread, and files wait for the disk. */
const AT_ONCE = 8

export class StackKeyring implements Keyring {
  readonly #directory: string
  readonly #options: AuthorityOptions
  #files: SecretFiles
  #authorities: Authorities
  /** What was asked for: secrets with what the stack file has, certificates with the answer. */
  readonly #secrets = new Map<string, Secret | undefined>()
  readonly #certificates = new Map<string, Checked>()

  /** Reads what is there; nothing is written, and the directory need not exist. */
  static async open(directory: string, options: KeyringOptions): Promise<StackKeyring> {
    return new StackKeyring(directory, { now: new Date(), ...options })
  }

  private constructor(directory: string, options: AuthorityOptions) {
    this.#directory = directory
    this.#options = options
    this.#files = SecretFiles.read(directory)
    this.#authorities = new Authorities(this.#files, options)
  }

  get authority(): Content {
    return plain(this.#authorities.bundle ?? '(authority to be made)\n')
  }

  secret(id: string, given?: Secret): Secret {
    const known = given ?? this.#secrets.get(id)
    this.#secrets.set(id, known)
    return known ?? new Secret(this.#keptSecret(id, known) ?? '(secret to be made)')
  }

  certificate(request: CertificateRequest): CertifiedKey {
    const { found } = this.#check(request)
    if (typeof found !== 'string') return found
    this.#requireSigner(request)
    return {
      certificate: plain(`(certificate to be issued: ${found})\n`),
      key: [new Secret('(key to be made)\n')],
    }
  }

  /** What is in use, whatever the stack file wants by now: to look at a stack before it is changed. */
  inUse(): Keyring {
    return {
      authority: this.authority,
      secret: (id, given) => {
        const kept = this.#files.get(fileName(id))
        return kept === undefined ? this.secret(id, given) : new Secret(kept.replace(/\n$/u, ''))
      },
      certificate: (request) => {
        const name = fileName(request.id)
        const [certificate] = parseCertificates(this.#files.get(`${name}.pem`) ?? '') ?? []
        const key = this.#files.get(`${name}.key`)
        const [authority] = this.#authorities.standing.accepted
        if (certificate === undefined || key === undefined || authority === undefined) return this.certificate(request)
        return { certificate: plain(withChain(certificate, authority)), key: [new Secret(key)] }
      },
    }
  }

  /** What prevents certificates that are due later, though none is now, and what a plan cannot show yet. */
  get remarks(): readonly string[] {
    const { problem, takesRounds } = this.#authorities
    return [
      ...(problem === undefined ? [] : [`certificates cannot be renewed: ${problem}; ${SIGNER_HINT}`]),
      ...(takesRounds ? [ROUNDS] : []),
    ]
  }

  /** Of what was asked for, that which `issue` will make. */
  get pending(): readonly PendingCredential[] {
    const { change } = this.#authorities
    const secrets = [...this.#secrets].flatMap(([id, given]) => {
      const why = this.#secretChange(id, given)
      return why === undefined ? [] : [{ id, what: 'secret' as const, why }]
    })
    const certificates = [...this.#certificates].flatMap(([id, { found }]) =>
      typeof found === 'string' ? [{ id, what: 'certificate' as const, why: found }] : [],
    )
    const authority = change === undefined ? [] : [{ id: AUTHORITY, what: 'authority' as const, why: change }]
    return [...authority, ...secrets, ...certificates]
  }

  /**
   * Makes and saves what is pending, and remembers the secrets of the stack file, so that one which is taken out of it stays what it
   * is. What another process has made since `open` is not made again. Cut short at any point, it can be repeated.
   */
  async issue(signal?: AbortSignal): Promise<void> {
    this.#files = SecretFiles.read(this.#directory)
    this.#authorities = new Authorities(this.#files, this.#options)
    await this.#files.prepare()
    await this.#authorities.prepare()
    await this.#issueSecrets(signal)
    this.#checkAgain()
    await this.#issueCertificates(signal)
    await this.#files.flush()
    await this.#authorities.conclude()
    this.#checkAgain()
  }

  /**
   * To be called once everything that runs has what this keyring gave. True: certificates of another authority can follow now, so
   * the stack is to be planned and applied once more, with the keyring opened anew.
   */
  async settle(): Promise<boolean> {
    return this.#authorities.settle()
  }

  /** When the certificates that are kept expire, and the authority (as `authority`). */
  expiries(): Map<string, Date> {
    const { end } = this.#authorities
    const certificates = [...keptCertificates(this.#files)]
    return new Map([
      ...(end === undefined ? [] : [[AUTHORITY, end] as const]),
      ...certificates.map(([name, { validToDate }]) => [idOf(name), validToDate] as const),
    ])
  }

  #keptSecret(id: string, given: Secret | undefined): string | undefined {
    const name = fileName(id)
    const text = this.#files.get(name)?.replace(/\n$/u, '')
    if (text !== '' || given !== undefined) return text
    throw new HoldfastError('StateInvalid', `Cannot read "${this.#files.path(name)}": it is empty; expected a secret`, {
      hint: 'Restore it from a backup; or remove it, and a new one is made',
    })
  }

  #secretChange(id: string, given: Secret | undefined): string | undefined {
    const kept = this.#keptSecret(id, given)
    if (given === undefined) return kept === undefined ? NEW : undefined
    return kept === undefined || kept === given.reveal() ? undefined : 'is another one in the stack file'
  }

  #check(request: CertificateRequest): Checked {
    const known = this.#certificates.get(request.id)
    if (known !== undefined && isDeepStrictEqual(known.request, request)) return known
    const checked = { request, found: this.#find(request) }
    this.#certificates.set(request.id, checked)
    return checked
  }

  #checkAgain(): void {
    const requests = [...this.#certificates.values()].map(({ request }) => request)
    this.#certificates.clear()
    for (const request of requests) this.#check(request)
  }

  #find(request: CertificateRequest): CertifiedKey | string {
    const name = fileName(request.id)
    const pem = this.#files.get(`${name}.pem`)
    if (pem === undefined) return NEW
    const [certificate] = parseCertificates(pem) ?? []
    if (certificate === undefined) return 'cannot be read'
    const key = this.#files.get(`${name}.key`) ?? ''
    if (!isKeyOf(certificate, key)) return 'has lost its key'
    const { accepted } = this.#authorities.standing
    const reasons = accepted.map((authority) => fits(certificate, request, authority, this.#options.now))
    const by = accepted[reasons.indexOf(undefined)]
    if (by === undefined) return reasons[0] ?? NEW
    return { certificate: plain(withChain(certificate, by)), key: [new Secret(key)] }
  }

  #requireSigner({ id }: CertificateRequest): void {
    const { problem } = this.#authorities
    if (problem === undefined) return
    throw new HoldfastError('AuthorityInvalid', `Cannot issue the certificate "${id}": ${problem}`, {
      hint: SIGNER_HINT,
    })
  }

  async #issueSecrets(signal: AbortSignal | undefined): Promise<void> {
    for (const [id, given] of this.#secrets) {
      signal?.throwIfAborted()
      const kept = this.#keptSecret(id, given)
      const value = given?.reveal() ?? kept ?? newPassword()
      if (value !== kept) await this.#files.write(fileName(id), `${value}\n`)
    }
  }

  async #issueCertificates(signal: AbortSignal | undefined): Promise<void> {
    const requests = [...this.#certificates.values()].filter(({ found }) => typeof found === 'string')
    if (requests.length === 0) return
    this.#requireSigner(requests[0].request)
    const { leafIssuer } = await import('../pki/issue.ts')
    const issueLeaf = await leafIssuer(this.#authorities.standing.signer as Authority & { key: KeyObject })
    const rest = requests.values()
    const worker = async () => {
      for (const { request } of rest) {
        signal?.throwIfAborted()
        const { certificate, key } = await issueLeaf(request, this.#options.now)
        const name = fileName(request.id)
        await this.#files.write(`${name}.key`, key.reveal())
        await this.#files.write(`${name}.pem`, certificate)
      }
    }
    const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }
}

/** Slashes make directories; nothing leads out of the directory. */
function fileName(id: string): string {
  return id
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/^\./u, '%2E'))
    .join('/')
}

function idOf(fileName: string): string {
  try {
    return decodeURIComponent(fileName)
  } catch {
    // Somebody else put it there.
    return fileName
  }
}

function newPassword(): string {
  const pick = () => PASSWORD_CHARACTERS[randomInt(PASSWORD_CHARACTERS.length)]
  return Array.from({ length: PASSWORD_LENGTH }, pick).join('')
}

function isKeyOf(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

function withChain(certificate: X509Certificate, { chain }: Authority): string {
  return [certificate, ...chain].map(String).join('')
}
