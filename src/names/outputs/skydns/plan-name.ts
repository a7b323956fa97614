// What to write for one name: pure, from the change and the entries that are there. The entries say which keys belong
// to which target; a target that is there keeps its key, one that goes takes its key and nothing else with it.
//
// The label of a new key looks random, as ExternalDNS makes it, but is a digest of name and target: whoever writes the
// same thing twice, because an answer was lost or another replica took over, writes the same key.

import { createHash } from 'node:crypto'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import { type Entry, isReadable, keyOf, type Unreadable } from './entry.ts'
import type { NameChange, RecordChange } from './name-changes.ts'
import { isNote, isSameText } from './note.ts'
import { formatService, hostType, isReverse, NO_SERVICE, type Service } from './service-value.ts'
import { normalTarget, withoutFinalDot } from './target.ts'

export interface Write {
  readonly key: string
  /** Undefined: the key goes. */
  readonly value: string | undefined
  /** Of the key as it was seen; 0 for one that is not there. */
  readonly modRevision: bigint
}

export interface Surroundings {
  readonly prefix: string
  /** Only entries of this owner are changed, and what is written carries it. */
  readonly owner: string | undefined
  /** Entries of this one, too: they become ours. */
  readonly formerOwner?: string | undefined
  /** What there is at a key. */
  at(key: string): Entry | Unreadable | undefined
}

/** A key on its way from what it holds to what it shall hold. */
interface Draft {
  readonly key: string
  readonly before: Entry | undefined
  after: Service | undefined
}

/** The writes, or why there can be none. `entries`: of the name, in the order of their keys. */
export function planName(
  change: NameChange,
  entries: readonly Entry[],
  around: Surroundings,
): readonly Write[] | string {
  const planning = new Planning(change.name, entries, around)
  const texts = change.records.filter(({ type }) => type === 'TXT')
  const problem = planning.changeHosts(change.records.filter(({ type }) => type !== 'TXT'))
  if (problem !== undefined) return problem
  planning.changeTexts(
    texts.flatMap(({ had }) => had),
    texts.flatMap(({ wanted }) => (wanted === undefined ? [] : [wanted])),
  )
  return planning.writes()
}

class Planning {
  readonly #name: string
  readonly #around: Surroundings
  readonly #drafts: Draft[]
  /** That hold the hosts asked for, in their order. */
  readonly #wanted: Draft[] = []
  /** Texts of keys that go. */
  readonly #homeless: string[] = []

  constructor(name: string, entries: readonly Entry[], around: Surroundings) {
    this.#name = name
    this.#around = around
    const { owner, formerOwner = owner } = around
    const owners: readonly (string | undefined)[] = [owner, formerOwner]
    const own = entries.filter(({ service }) => owner === undefined || owners.includes(service.owner))
    this.#drafts = own.map((entry) => ({ key: entry.key, before: entry, after: entry.service }))
  }

  changeHosts(records: readonly RecordChange[]): string | undefined {
    const stale = new Set<Draft>()
    for (const { type, had } of records)
      for (const target of had) for (const draft of this.#holding(type, target)) stale.add(draft)
    for (const { type, wanted } of records) {
      if (wanted === undefined) continue
      for (const target of wanted.targets) {
        const draft = type === 'PTR' ? this.#exactPlace(target, stale) : this.#place(type, target)
        if (typeof draft === 'string') return draft
        const { host = '' } = draft.after ?? {}
        draft.after = {
          ...(draft.after ?? this.#newService(draft.key)),
          host: normalTarget(host) === normalTarget(target) ? host : withoutFinalDot(target),
          ttl: ttlOf(wanted),
          group: wanted.providerSpecific[0]?.value ?? '',
          owner: this.#around.owner ?? draft.after?.owner ?? '',
        }
        stale.delete(draft)
        this.#wanted.push(draft)
      }
    }
    // A note is about the record it stands with: it goes with it, where any other text stays.
    const isLeftBehind = (text: string) => text !== '' && (this.#wanted.length > 0 || !isNote(text))
    for (const draft of stale) {
      this.#homeless.push(...[draft.after?.text ?? ''].filter(isLeftBehind))
      draft.after = undefined
    }
    return undefined
  }

  changeTexts(had: readonly string[], wanted: readonly Endpoint[]): void {
    const texts = new Map(wanted.flatMap((each) => each.targets.map((text) => [text, ttlOf(each)] as const)))
    const goes = (text: string) => !texts.has(text) && had.some((each) => isSameText(each, text))
    const isMisplaced = ({ host, text }: Service) => host !== '' && (texts.get(text) ?? 0) !== 0
    const freed = this.#drafts.filter(
      ({ after }) => after && after.text !== '' && (goes(after.text) || isMisplaced(after)),
    )
    for (const draft of freed) if (draft.after !== undefined) draft.after = { ...draft.after, text: '' }
    for (const text of this.#homeless)
      if (!goes(text) && !texts.has(text) && this.#holder(text) === undefined) this.#settle(text, 0, freed)
    for (const [text, ttl] of texts) if (text !== '') this.#settle(text, ttl, freed)
  }

  writes(): Write[] {
    return this.#drafts.flatMap(({ key, before, after }) => {
      if (after === before?.service) return []
      const isEmpty = after === undefined || (after.host === '' && after.text === '')
      const value = isEmpty ? undefined : formatService(after)
      const isHeld = before !== undefined && value === formatService(before.service)
      return isHeld ? [] : [{ key, value, modRevision: before?.modRevision ?? 0n }]
    })
  }

  /** Entries of a record with this target. */
  #holding(type: string, target: string): Draft[] {
    const normal = normalTarget(target)
    return this.#drafts.filter(({ after }) => {
      const host = after?.host ?? ''
      return host !== '' && hostType(this.#name, host) === type && normalTarget(host) === normal
    })
  }

  #place(type: string, target: string): Draft {
    const [draft] = this.#holding(type, target)
    return draft ?? this.#add(this.#freeKey(type, normalTarget(target)))
  }

  /** There is only one key for the PTR record of a name. */
  #exactPlace(target: string, stale: ReadonlySet<Draft>): Draft | string {
    const key = keyOf(this.#around.prefix, this.#name)
    const draft = this.#drafts.find((each) => each.key === key)
    if (draft === undefined) {
      const other = this.#around.at(key)
      return other === undefined ? this.#add(key) : this.#refused(key, whyNot(other), 'a key of our own is wanted')
    }
    const { host = '' } = draft.after ?? {}
    const isFree = host === '' || stale.has(draft) || normalTarget(host) === normalTarget(target)
    return isFree ? draft : this.#refused(key, `points to "${host}" already`, 'one target is wanted')
  }

  #holder(text: string): Draft | undefined {
    return this.#drafts.find(({ after }) => after?.text === text)
  }

  #settle(text: string, ttl: number, freed: readonly Draft[]): void {
    const draft = this.#holder(text) ?? this.#textPlace(text, ttl, freed)
    const after = draft.after ?? this.#newService(draft.key)
    draft.after = { ...after, text, ttl: after.host === '' ? ttl : after.ttl, owner: this.#around.owner ?? after.owner }
  }

  /**
   * Where another text was, beside a host that is written anyway, or at a key of its own. Beside a host the TTL is that of
   * the host: not the place for a text that has one.
   */
  #textPlace(text: string, ttl: number, freed: readonly Draft[]): Draft {
    const exact = keyOf(this.#around.prefix, this.#name)
    const atExact = isReverse(this.#name) ? this.#drafts.filter(({ key }) => key === exact) : []
    const hasRoom = ({ after }: Draft) => after?.text === '' && (ttl === 0 || after.host === '')
    const found = [...freed, ...this.#wanted, ...atExact].find(hasRoom)
    if (found !== undefined) return found
    const isExactFree = isReverse(this.#name) && !this.#isTaken(exact)
    return this.#add(isExactFree ? exact : this.#freeKey('TXT', text))
  }

  #add(key: string): Draft {
    const draft: Draft = { key, before: undefined, after: undefined }
    this.#drafts.push(draft)
    return draft
  }

  #newService(key: string): Service {
    const { prefix, owner = '' } = this.#around
    return { ...NO_SERVICE, targetstrip: key === keyOf(prefix, this.#name) ? 0 : 1, owner }
  }

  #freeKey(type: string, target: string): string {
    const { prefix, owner = '' } = this.#around
    for (let tries = 0; ; tries++) {
      const seed = [this.#name, owner, type, target, tries].join('\0')
      const number = createHash('sha256').update(seed).digest().readUInt32BE() & 0x7fff_ffff
      const key = keyOf(prefix, `${number.toString(16).padStart(8, '0')}.${this.#name}`)
      if (!this.#isTaken(key)) return key
    }
  }

  #isTaken(key: string): boolean {
    return this.#around.at(key) !== undefined || this.#drafts.some((draft) => draft.key === key)
  }

  #refused(key: string, what: string, wanted: string): string {
    return `Cannot write "${this.#name}": "${key}" ${what}; ${wanted}`
  }
}

function ttlOf({ recordTTL = 0 }: Endpoint): number {
  return Math.max(0, recordTTL)
}

function whyNot(entry: Entry | Unreadable): string {
  if (!isReadable(entry)) return 'holds something else'
  const { owner } = entry.service
  return owner === '' ? 'belongs to nobody' : `belongs to "${owner}"`
}
