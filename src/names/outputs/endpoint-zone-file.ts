// One zone, made of endpoints, as a file `db.<zone>` for a name server that reads zone files. The text of every name is
// kept, so that a new file is a matter of joining them. What comes while a file was just written goes into the next one:
//
//   set ──▶ staged ──commit──▶ texts ──▶ file        at most every WRITE_GAP_MS, at once when it was quiet
//
// Nothing is written before the first commit, and over a file that is there only once everything is known: names that are
// not known yet must not look like names that are gone.
// The serial is read back from the file that is there, and rises with every change of what is in it.

import { join } from 'node:path'
import { isSubdomain, NameError, parseName } from '../../dns/name.ts'
import { ExpectedError } from '../../dns/tokens.ts'
import { HoldfastError, reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { ownerOf } from '../endpoints/endpoint-records.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { apexText, type ZoneApex } from '../kubevirt/zone-apex.ts'
import { nextSerial } from '../serials.ts'
import { formatEndpoint, hasSameLines, readSerial } from './endpoint-zone-text.ts'
import { pauseMs } from './notify.ts'
import { PublishedFolder } from './published-folder.ts'

export interface EndpointZoneFileOptions {
  readonly directory: string
  readonly apex: ZoneApex
  readonly log: Pick<Log, 'info' | 'error'>
  /** Ends writing, once what was committed is on disk, or one more attempt has failed. */
  readonly signal: AbortSignal
}

const WRITE_GAP_MS = 200
const FIRST_RETRY_MS = 500
/** CoreDNS takes a file of serial 0 for one that it has loaded. */
const FIRST_SERIAL = 1

type Outcome = 'written' | 'up to date' | 'failed'

export class EndpointZoneFile {
  readonly #options: EndpointZoneFileOptions
  readonly #zone: Uint8Array
  readonly #name: string
  readonly #folder: PublishedFolder
  readonly #texts = new Map<string, string>()
  #staged = new Map<string, string>()
  /** What the file has of the names that were committed otherwise since. */
  readonly #outdated = new Map<string, string | undefined>()
  /** Otherwise the file has to be read first. */
  #isFileKnown = false
  #serial: number | undefined
  /** Everything that belongs into the file is known. */
  #isWhole = false
  #commits = 0
  #writtenCommits = 0
  #failure: string | undefined
  #isAnnounced = false
  #isIdle = false
  #wake: () => void = () => {}
  #flushed: (() => void)[] = []
  readonly #ended: Promise<void>

  constructor(options: EndpointZoneFileOptions) {
    const { directory, apex, signal } = options
    this.#options = options
    this.#zone = parseName(`${apex.zone}.`)
    this.#name = `db.${apex.zone}`
    this.#folder = new PublishedFolder({
      ...{ directory, fileMode: 0o644, directoryMode: 0o755, nested: false, notifies: false },
    })
    signal.addEventListener('abort', () => this.#wake(), { once: true })
    this.#ended = this.#run()
  }

  /** All endpoints of a name, none takes it away. Names outside the zone are passed over. */
  set(name: string, endpoints: readonly Endpoint[]): void {
    const owner = ownerOf(name)
    if (owner === undefined || !isSubdomain(owner, this.#zone)) return
    this.#staged.set(name, endpoints.map((endpoint) => this.#textOf(owner, endpoint)).join(''))
  }

  /**
   * Lets everything be written that was set since the last commit. The first one makes a file even of no names.
   * `isWhole`: there is nothing that is not known yet; until then a file that is there stays as it is.
   */
  commit(isWhole = true): void {
    this.#isWhole ||= isWhole
    for (const [name, text] of this.#staged) {
      const before = this.#texts.get(name)
      if (text === (before ?? '')) continue
      if (!this.#outdated.has(name)) this.#outdated.set(name, before)
      if (text === '') this.#texts.delete(name)
      else this.#texts.set(name, text)
    }
    this.#staged = new Map()
    this.#commits++
    if (this.#isIdle) this.#wake()
  }

  /** Resolves when all that was committed is on disk, without waiting for a pause to end; and at the end. */
  async flush(): Promise<void> {
    if (this.#options.signal.aborted) return this.#ended
    if (!this.#isDue) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#flushed.push(resolve)
    this.#wake()
    return Promise.race([promise, this.#ended])
  }

  get #isDue(): boolean {
    return this.#commits > this.#writtenCommits
  }

  #textOf(owner: Uint8Array, endpoint: Endpoint): string {
    const { apex, log } = this.#options
    try {
      return formatEndpoint(owner, endpoint, this.#zone, apex.ttlSeconds)
    } catch (error) {
      if (!(error instanceof NameError || error instanceof ExpectedError)) throw error
      const { dnsName, recordType } = endpoint
      log.error(`Cannot write ${recordType} of "${dnsName}" into zone "${apex.zone}": ${error.message}; it is left out`)
      return ''
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#options
    let failures = 0
    for (;;) {
      const isLast = signal.aborted
      const outcome = await this.#attempt()
      if (isLast) return
      if (outcome === 'failed') {
        await this.#rest(pauseMs(FIRST_RETRY_MS, failures++))
        continue
      }
      failures = 0
      if (outcome === 'written' && this.#flushed.length === 0) await this.#rest(WRITE_GAP_MS)
      if (!this.#isDue) await this.#rest()
    }
  }

  /** Without a time, until there is something to do. */
  async #rest(ms?: number): Promise<void> {
    if (this.#options.signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    this.#isIdle = ms === undefined
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
    await promise
    clearTimeout(timer)
    this.#isIdle = false
  }

  async #attempt(): Promise<Outcome> {
    const commits = this.#commits
    try {
      if (!this.#isFileKnown) await this.#folder.open()
      const outcome = commits === this.#writtenCommits ? 'up to date' : await this.#update()
      if (commits > 0 && !this.#isAnnounced) this.#announce(outcome)
      this.#failure = undefined
      this.#writtenCommits = commits
      if (!this.#isDue) for (const resolve of this.#flushed.splice(0)) resolve()
      return outcome
    } catch (error) {
      this.#isFileKnown = false
      this.#fail(reasonOf(error instanceof HoldfastError ? error.cause : error))
      return 'failed'
    }
  }

  async #update(): Promise<Outcome> {
    const isWhole = this.#isWhole
    const isCurrent = this.#isFileKnown ? !this.#hasChanged() : await this.#isFileCurrent(isWhole)
    this.#outdated.clear()
    this.#isFileKnown = isCurrent && isWhole
    if (isCurrent) return 'up to date'
    const serial = nextSerial(this.#serial, this.#serial ?? FIRST_SERIAL)
    await this.#folder.write(this.#name, Buffer.from(this.#render(serial)))
    await this.#folder.flush()
    this.#serial = serial
    this.#isFileKnown = true
    return 'written'
  }

  #hasChanged(): boolean {
    for (const [name, text] of this.#outdated) if (this.#texts.get(name) !== text) return true
    return false
  }

  async #isFileCurrent(isWhole: boolean): Promise<boolean> {
    const bytes = await this.#folder.read(this.#name)
    if (bytes === undefined) return false
    const text = Buffer.from(bytes).toString()
    const serial = readSerial(text, this.#zone)
    this.#serial = serial ?? this.#serial
    return serial !== undefined && (!isWhole || hasSameLines(text, this.#render(serial)))
  }

  #render(serial: number): string {
    return apexText(this.#options.apex, serial) + [...this.#texts.values()].join('')
  }

  #announce(outcome: Outcome): void {
    this.#isAnnounced = true
    this.#options.log.info(`File ${this.#path} ${outcome}: serial ${this.#serial}`)
  }

  #fail(reason: string): void {
    this.#isAnnounced = false
    if (reason !== this.#failure) this.#options.log.error(`Cannot write "${this.#path}": ${reason}; it is tried again`)
    this.#failure = reason
  }

  get #path(): string {
    return join(this.#options.directory, this.#name)
  }
}
