// A catalog in this very process: texts and names in, answers out, without sockets and threads.

import { parseName, ROOT } from '../../src/dns/name.ts'
import { TYPE } from '../../src/dns/types.ts'
import { parseRecord } from '../../src/dns/zonefile/format.ts'
import { Catalog, type CatalogOptions } from '../../src/names/catalog.ts'
import { loadZoneTextSteps } from '../../src/names/load-zone.ts'
import type { LoaderReport } from '../../src/names/loader-messages.ts'
import type { PartOptions, ZoneSource } from '../../src/names/offer.ts'
import type { SourceRecord, ZonePart } from '../../src/names/part.ts'
import { SerialStore } from '../../src/names/serials.ts'
import { EtcdZones } from '../../src/names/sources/etcd-zones.ts'
import { WorkQueue } from '../../src/names/work-queue.ts'
import { PLAIN_STYLE } from '../../src/zone/edits.ts'
import { question } from './fault-server.ts'
import { LocalZones } from './local-answer.ts'
import { briefly } from './lookup.ts'

const PREFIX = '/zones/'
const MAX_RECORDS = 10_000

export class LocalCatalog {
  readonly zones = new LocalZones()
  readonly reports: LoaderReport[] = []
  readonly catalog: Catalog
  readonly serials: SerialStore
  readonly work: WorkQueue

  constructor(options: { stateDirectory?: string; work?: WorkQueue; listener?: CatalogOptions['listener'] } = {}) {
    // Everything at once unless told otherwise, so that tests see what they asked for.
    this.work = options.work ?? new WorkQueue({ sliceMs: Infinity })
    this.serials = SerialStore.open(options.stateDirectory, 'serials', (message) => {
      throw new Error(message)
    })
    this.catalog = new Catalog({
      ...{ arena: this.zones.arena, directory: this.zones.directory, serials: this.serials },
      report: (report) => this.reports.push(report),
      work: this.work,
      listener: options.listener ?? (() => undefined),
    })
  }

  /** What was told in one line each, in order. */
  get problems(): string[] {
    return this.reports.flatMap((report) => (report.kind === 'problem' ? [report.message] : []))
  }

  source(rank: number, more: Partial<ZoneSource> = {}): ZoneSource {
    return { space: 0, rank, plugin: 'etcd', fallthrough: [], requireNs: false, watchAlso: () => undefined, ...more }
  }

  /** Texts as etcd has them; each put is a revision of its own. */
  texts(rank: number): StoredTexts {
    return new StoredTexts(this.catalog, this.source(rank), (message) =>
      this.reports.push({ kind: 'problem', message }),
    )
  }

  /** A text as a file has it: without a version. */
  file(source: ZoneSource, origin: string, text: string): boolean {
    const verdict = this.catalog.offer(source, origin, {
      label: `db.${origin}`,
      *load(wire, options) {
        const { zone, ...loaded } = yield* loadZoneTextSteps(Buffer.from(text), `db.${origin}`, wire, options)
        return { ...loaded, builder: zone }
      },
    })
    return atOnce(verdict)
  }

  part(rank: number, origin: string, more: Partial<PartOptions> = {}): LocalPart {
    const options = {
      ...{ space: 0, rank, plugin: 'skydns', style: PLAIN_STYLE, fallthrough: [], searches: false, leastTtl: 0 },
      ...more,
    }
    return new LocalPart(this.catalog.part(options, origin))
  }

  /** The data of an answer, or its rcode. */
  ask(name: string, type: number = TYPE.A): string {
    const message = this.zones.ask(question(name, type))
    if (message === undefined || message === 'elsewhere') return String(message)
    return briefly(message)
  }

  serial(origin: string): number {
    return Number(this.ask(origin, TYPE.SOA).split(' ')[2])
  }
}

class StoredTexts {
  readonly #zones: EtcdZones
  #revision = 0n

  constructor(catalog: Catalog, source: ZoneSource, onProblem: (message: string) => void) {
    this.#zones = new EtcdZones({
      prefix: PREFIX,
      maxRecords: MAX_RECORDS,
      onZone: (origin, offer) => catalog.offer(source, origin, offer),
      onGone: (origin) => catalog.withdraw(source, origin),
      onProblem,
    })
  }

  /** False when it was refused. `revision` for a text that was there before. */
  put(name: string, text: string, revision: bigint = ++this.#revision): boolean {
    const key = Buffer.from(`${PREFIX}${name}`)
    return atOnce(this.#zones.apply({ key, value: Buffer.from(text), modRevision: revision, lease: 0n }))
  }

  delete(name: string): boolean {
    const key = Buffer.from(`${PREFIX}${name}`)
    return atOnce(this.#zones.apply({ key, value: undefined, modRevision: ++this.#revision, lease: 0n }))
  }
}

/** Of work that nothing interrupts. */
function atOnce(verdict: boolean | Promise<boolean>): boolean {
  if (typeof verdict !== 'boolean') throw new Error('expected a text that is read at once')
  return verdict
}

export class LocalPart {
  readonly #part: ZonePart
  #serial = 0

  constructor(part: ZonePart) {
    this.#part = part
  }

  /** Records as `A 192.0.2.1`; all names given are one change. */
  set(names: Readonly<Record<string, readonly string[]>>, serial: number = ++this.#serial): void {
    for (const [owner, records] of Object.entries(names)) this.#part.set(parseName(owner), records.map(toRecord))
    this.#part.commit(serial)
  }
}

function toRecord(text: string): SourceRecord {
  const { type, ttl, rdata } = parseRecord(`. 60 ${text}`, ROOT)
  return { type, ttl, rdata }
}
