// An etcd prefix as files in a directory, for name servers that read zone files. What is in etcd is followed; while
// etcd is away nothing changes. Changes that come while files are being written wait and are then taken together:
// only the newest value of a key matters.
//
//   mirror ──▶ waiting (name → value) ──▶ files ──▶ notification

import { DEFAULT_MAX_RECORDS, MAX_ZONE_BYTES } from '../../dns/zonefile/limits.ts'
import { ROOT } from '../../dns/name.ts'
import { formatProblem } from '../../dns/zonefile/problem.ts'
import { EtcdClient } from '../../etcd/client.ts'
import { mirror, type MirrorChange } from '../../etcd/mirror.ts'
import type { EtcdOptions } from '../../etcd/options.ts'
import { HoldfastError, reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { loadZoneText } from '../load-zone.ts'
import { originOfKey } from '../zone-key.ts'
import { notify, type NotifyOptions, pauseMs } from './notify.ts'
import { PublishedFolder } from './published-folder.ts'

export interface ZonefilesOptions {
  readonly etcd: EtcdOptions
  readonly prefix: string
  readonly directory: string
  readonly fileMode: number
  readonly directoryMode: number
  /** Refuse what is no good zone. Without it any value is a file, and slashes in keys make folders. */
  readonly validate: boolean
  /** Names of files that are never removed: whoever reads them cannot do without. */
  readonly keep?: readonly string[]
  readonly notify?: NotifyOptions
}

export interface PublishOptions {
  readonly log: Log
  /** Ends publishing; what is being written is finished first. */
  readonly signal: AbortSignal
  /** Ends once everything there is has been written; then failures to reach etcd are errors. */
  readonly once?: boolean
}

/** Writers at a time: most of their time goes into waiting for the disk. */
const WRITERS = 8
/** Beyond this many files at once, single ones are not announced. */
const ANNOUNCED = 20
const FIRST_RETRY_MS = 500

export async function publishZonefiles(options: ZonefilesOptions, publish: PublishOptions): Promise<void> {
  await new ZonefilesPublisher(options, publish).run()
}

/** `value` undefined: the file goes. */
interface Waiting {
  readonly value: Uint8Array | undefined
  readonly revision: bigint
}

type Outcome = 'written' | 'removed' | 'unchanged' | 'refused' | 'failed'

class ZonefilesPublisher {
  readonly #options: ZonefilesOptions
  readonly #log: Log
  readonly #once: boolean
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal
  readonly #folder: PublishedFolder
  #waiting = new Map<string, Waiting>()
  #wake: () => void = () => {}
  #listed = false
  /** Files that were there before the first listing. */
  #earlier: readonly string[] = []
  /** Why files could not be written at the last attempt. */
  readonly #failures = new Map<string, string>()
  #attempts = 0
  #failure: HoldfastError | undefined

  constructor(options: ZonefilesOptions, { log, signal, once = false }: PublishOptions) {
    this.#options = options
    this.#log = log
    this.#once = once
    this.#signal = AbortSignal.any([signal, this.#stop.signal])
    const { directory, fileMode, directoryMode, validate } = options
    const notifies = options.notify !== undefined
    this.#folder = new PublishedFolder({ directory, fileMode, directoryMode, nested: !validate, notifies })
  }

  async run(): Promise<void> {
    const { etcd, prefix } = this.#options
    // Before etcd is listed, so that what another publisher writes from then on is not taken for a file without a key.
    this.#earlier = (await this.#folder.open()).filter((name) => this.#nameProblem(name) === undefined)
    const client = new EtcdClient(etcd)
    try {
      const mirroring = mirror({
        client,
        prefix: Buffer.from(prefix),
        signal: this.#signal,
        onChanges: (changes, { listed, count }) => this.#take(changes, listed && count === 0),
        onState: (state) => {
          if (state.up) this.#log.info(`Following "${prefix}" in etcd, from revision ${state.revision}`)
          else this.#lost(state.error)
        },
      })
      await Promise.all([mirroring, this.#write()])
    } finally {
      this.#stop.abort()
      client.close()
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  #lost(error: HoldfastError): void {
    if (this.#once) this.#fail(error)
    else this.#log.error([`${error.message}; files stay as they are`, error.hint ?? []].flat().join(': '))
  }

  #fail(error: HoldfastError): void {
    this.#failure = error
    this.#stop.abort()
  }

  /** `empty`: a listing found no key at all. */
  #take(changes: readonly MirrorChange[], empty: boolean): void {
    const { prefix, directory } = this.#options
    const names = changes.map(({ key }) => nameOf(key, prefix))
    if (empty) {
      // A cluster made anew and a mistyped prefix look like this, too.
      this.#log.warning(`Cannot find any key under "${prefix}" in etcd; the files in "${directory}" stay as they are`)
    } else {
      for (const [index, { value, revision }] of changes.entries()) {
        const name = names[index]
        const problem = this.#nameProblem(name)
        if (problem === undefined) this.#waiting.set(name, { value: value?.value, revision })
        else if (value !== undefined && !this.#isOthers(name))
          this.#log.error(`Cannot publish "${prefix}${name}": ${problem}; it is passed over`)
      }
      if (!this.#listed) {
        const keys = new Set(names)
        for (const name of this.#earlier)
          if (!keys.has(name)) this.#waiting.set(name, { value: undefined, revision: 0n })
      }
    }
    this.#listed = true
    this.#wake()
  }

  /** Where all of etcd is followed, a path is somebody else's key. */
  #isOthers(name: string): boolean {
    return this.#options.prefix === '' && name.includes('/')
  }

  #nameProblem(name: string): string | undefined {
    const problem = this.#folder.nameProblem(name)
    if (problem !== undefined || !this.#options.validate) return problem
    return originOf(name) === undefined ? 'the key is not a domain name' : undefined
  }

  async #write(): Promise<void> {
    while (!this.#signal.aborted) {
      if (this.#waiting.size > 0) await this.#writeBatch()
      if (this.#listed && this.#folder.owesNotification) await this.#notify()
      const failed = this.#failures.values().next().value
      if (this.#once && this.#listed) {
        const { directory } = this.#options
        if (failed === undefined) return this.#stop.abort()
        return this.#fail(new HoldfastError('FileUnwritable', `Cannot write into "${directory}": ${failed}`))
      }
      if (failed === undefined) this.#attempts = 0
      if (failed !== undefined) await this.#changes(pauseMs(FIRST_RETRY_MS, this.#attempts++))
      else if (this.#waiting.size === 0) await this.#changes()
    }
  }

  /** Resolves when there is something new, at the latest after `timeoutMs`, and at the end. */
  #changes(timeoutMs?: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    this.#wake = wake
    if (this.#signal.aborted) wake()
    const timer = timeoutMs === undefined ? undefined : setTimeout(wake, timeoutMs)
    this.#signal.addEventListener('abort', wake, { once: true })
    return promise.finally(() => {
      clearTimeout(timer)
      this.#signal.removeEventListener('abort', wake)
    })
  }

  /** What could not be written waits again. */
  async #writeBatch(): Promise<void> {
    const batch = this.#waiting
    this.#waiting = new Map()
    const counts: Record<Outcome, number> = { written: 0, removed: 0, unchanged: 0, refused: 0, failed: 0 }
    const announce = batch.size <= ANNOUNCED
    const rest = batch.entries()
    const writer = async () => {
      for (const [name, waiting] of rest) counts[await this.#apply(name, waiting, announce)]++
    }
    await Promise.all(Array.from({ length: WRITERS }, writer))
    await this.#attempt('flush files to disk', 'a power cut may undo the last changes', () => this.#folder.flush())
    for (const name of this.#failures.keys()) {
      const waiting = batch.get(name)
      if (waiting !== undefined && !this.#waiting.has(name)) this.#waiting.set(name, waiting)
    }
    const summary = Object.entries(counts).filter(([, count]) => count > 0)
    if (!announce || counts.unchanged > 0)
      this.#log.info(`Files: ${summary.map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`)
  }

  async #apply(name: string, { value, revision }: Waiting, announce: boolean): Promise<Outcome> {
    if (value !== undefined && this.#options.validate && !this.#isGoodZone(name, value)) return 'refused'
    if (value === undefined && this.#options.keep?.includes(name)) return this.#keep(name)
    try {
      const changed =
        value === undefined
          ? (revision > 0n || (await this.#isOurs(name))) && (await this.#folder.remove(name))
          : await this.#folder.write(name, value)
      this.#failures.delete(name)
      if (!changed) return 'unchanged'
      const outcome = value === undefined ? 'removed' : 'written'
      const why = revision === 0n ? 'etcd has no such key' : `revision ${revision}`
      if (announce) this.#log.info(`File ${name} ${outcome}: ${why}`)
      return outcome
    } catch (error) {
      const reason = reasonOf(error)
      if (this.#failures.get(name) !== reason)
        this.#log.error(`Cannot write "${name}" into "${this.#options.directory}": ${reason}; it is tried again`)
      this.#failures.set(name, reason)
      return 'failed'
    }
  }

  #keep(name: string): Outcome {
    this.#failures.delete(name)
    this.#log.info(`File ${name} stays as it is, although etcd has no such key`)
    return 'unchanged'
  }

  /**
   * Whether a file without a key in etcd may be one that was published: then it is a good zone. Whoever gives the wrong
   * directory keeps what is in it.
   */
  async #isOurs(name: string): Promise<boolean> {
    if (!this.#options.validate) return true
    const text = await this.#folder.read(name)
    if (text === undefined) return false
    const { accepted } = loadZoneText(text, name, originOf(name) ?? ROOT, {
      requireNs: false,
      maxRecords: DEFAULT_MAX_RECORDS,
      maxBytes: MAX_ZONE_BYTES,
    })
    if (!accepted) this.#log.warning(`File ${name} stays, although etcd has no such key: it is not a good zone`)
    return accepted
  }

  #isGoodZone(name: string, value: Uint8Array): boolean {
    const label = `${this.#options.prefix}${name}`
    // CoreDNS, for which the files are, takes zones without NS.
    const { accepted, problems } = loadZoneText(value, label, originOf(name) ?? ROOT, {
      requireNs: false,
      maxRecords: DEFAULT_MAX_RECORDS,
      maxBytes: MAX_ZONE_BYTES,
    })
    if (accepted) return true
    for (const problem of problems) if (problem.severity === 'error') this.#log.error(formatProblem(problem))
    this.#log.error(`Cannot publish "${label}": it is not a good zone; the file stays as it is`)
    this.#failures.delete(name)
    return false
  }

  async #notify(): Promise<void> {
    const { notify: options } = this.#options
    const reason = options && (await notify(options, this.#log, this.#signal))
    if (reason === undefined) {
      const settle = () => this.#folder.settleNotification()
      return this.#attempt('note that the notification was sent', 'it is repeated at the next start', settle)
    }
    if (this.#signal.aborted) return
    const message = `Cannot notify with "${options?.command.join(' ')}": ${reason}`
    if (!this.#once) this.#log.error(`${message}; it is tried again after the next change`)
    else this.#fail(new HoldfastError('NotificationFailed', `${message}; it is tried again at the next start`))
  }

  /** What the directory does not let us do, and can be done without. */
  async #attempt(what: string, consequence: string, act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      this.#log.error(`Cannot ${what} in "${this.#options.directory}": ${reasonOf(error)}; ${consequence}`)
    }
  }
}

/** The prefix may be without its last slash. */
function nameOf(key: Uint8Array, prefix: string): string {
  const name = Buffer.from(key).subarray(Buffer.byteLength(prefix)).toString()
  return prefix.endsWith('/') ? name : name.replace(/^\//u, '')
}

function originOf(name: string): Uint8Array | undefined {
  return originOfKey(Buffer.from(name))
}
