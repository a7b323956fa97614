// What to write for one name: pure, from the change and the entries that are there. The entries say which keys belong
// to which target; a target that is there keeps its key, one that goes takes its key and nothing else with it.
//
// The label of a new key looks random, as ExternalDNS makes it, but is a digest of name and target: whoever writes the
// same thing twice, because an answer was lost or another replica took over, writes the same key.
//
// A name can have thousands of targets: keys, hosts and texts are looked up, never searched for.

import { createHash } from 'node:crypto'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import { type Entry, isReadable, keyOf, type Unreadable } from './entry.ts'
import type { NameChange, RecordChange } from './name-changes.ts'
import { isNote, sameTextAs } from './note.ts'
import { formatService, hostType, isReverse, NO_SERVICE, type Service } from './service-value.ts'
import { normalTarget, withoutFinalDot } from './target.ts'
import { type Draft, TextPlaces } from './text-places.ts'

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
  /** The key that spells the name and nothing else. */
  readonly #exact: string
  /** By key. */
  readonly #drafts: Map<string, Draft>
  /** By type and target, in the order of their keys. */
  readonly #holding: Map<string, Draft[]>
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
    this.#exact = keyOf(around.prefix, name)
    const drafts = own.map((entry) => ({ key: entry.key, before: entry, after: entry.service }))
    this.#drafts = new Map(drafts.map((draft) => [draft.key, draft]))
    const withHost = drafts.filter(({ after }) => after.host !== '')
    this.#holding = Map.groupBy(withHost, ({ after: { host } }) => hostKey(hostType(name, host), host))
  }

  changeHosts(records: readonly RecordChange[]): string | undefined {
    const stale = new Set<Draft>()
    for (const { type, had } of records)
      for (const target of had) for (const draft of this.#holding.get(hostKey(type, target)) ?? []) stale.add(draft)
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
    const wasHad = sameTextAs(had)
    const goes = (text: string) => !texts.has(text) && wasHad(text)
    const isMisplaced = ({ host, text }: Service) => host !== '' && (texts.get(text) ?? 0) !== 0
    const freed = [...this.#drafts.values()].filter(
      ({ after }) => after && after.text !== '' && (goes(after.text) || isMisplaced(after)),
    )
    for (const draft of freed) if (draft.after !== undefined) draft.after = { ...draft.after, text: '' }
    const places = new TextPlaces(this.#drafts.values(), [...freed, ...this.#wanted, ...this.#exactDraft()])
    for (const text of this.#homeless)
      if (!goes(text) && !texts.has(text) && places.holder(text) === undefined) this.#settle(text, 0, places)
    for (const [text, ttl] of texts) if (text !== '') this.#settle(text, ttl, places)
  }

  writes(): Write[] {
    return [...this.#drafts.values()].flatMap(({ key, before, after }) => {
      if (after === before?.service) return []
      const isEmpty = after === undefined || (after.host === '' && after.text === '')
      const value = isEmpty ? undefined : formatService(after)
      const isHeld = before !== undefined && value === formatService(before.service)
      return isHeld ? [] : [{ key, value, modRevision: before?.modRevision ?? 0n }]
    })
  }

  #place(type: string, target: string): Draft {
    const key = hostKey(type, target)
    const held = this.#holding.get(key)
    if (held !== undefined) return held[0]
    const draft = this.#add(this.#freeKey(type, normalTarget(target)))
    this.#holding.set(key, [draft])
    return draft
  }

  /** There is only one key for the PTR record of a name. */
  #exactPlace(target: string, stale: ReadonlySet<Draft>): Draft | string {
    const key = this.#exact
    const draft = this.#drafts.get(key)
    if (draft === undefined) {
      const other = this.#around.at(key)
      return other === undefined
        ? this.#add(key)
        : this.#refused(key, whyNot(other), 'expected a key without other records')
    }
    const { host = '' } = draft.after ?? {}
    const isFree = host === '' || stale.has(draft) || normalTarget(host) === normalTarget(target)
    return isFree ? draft : this.#refused(key, `points to "${host}" already`, 'expected one target')
  }

  /** Where the text is, where another one was, beside a host that is written anyway, or at a key of its own. */
  #settle(text: string, ttl: number, places: TextPlaces): void {
    const draft = places.holder(text) ?? places.takeRoom(ttl) ?? this.#newTextPlace(text)
    const after = draft.after ?? this.#newService(draft.key)
    draft.after = { ...after, text, ttl: after.host === '' ? ttl : after.ttl, owner: this.#around.owner ?? after.owner }
    places.settled(text, draft)
  }

  #newTextPlace(text: string): Draft {
    const isExactFree = isReverse(this.#name) && !this.#isTaken(this.#exact)
    return this.#add(isExactFree ? this.#exact : this.#freeKey('TXT', text))
  }

  #exactDraft(): Draft[] {
    const draft = isReverse(this.#name) ? this.#drafts.get(this.#exact) : undefined
    return draft === undefined ? [] : [draft]
  }

  #add(key: string): Draft {
    const draft: Draft = { key, before: undefined, after: undefined }
    this.#drafts.set(key, draft)
    return draft
  }

  #newService(key: string): Service {
    return { ...NO_SERVICE, targetstrip: key === this.#exact ? 0 : 1, owner: this.#around.owner ?? '' }
  }

  #freeKey(type: string, target: string): string {
    const { owner = '' } = this.#around
    for (let tries = 0; ; tries++) {
      const seed = [this.#name, owner, type, target, tries].join('\0')
      const number = createHash('sha256').update(seed).digest().readUInt32BE() & 0x7fff_ffff
      const key = `${this.#exact}/${number.toString(16).padStart(8, '0')}`
      if (!this.#isTaken(key)) return key
    }
  }

  #isTaken(key: string): boolean {
    return this.#around.at(key) !== undefined || this.#drafts.has(key)
  }

  #refused(key: string, what: string, expected: string): string {
    return `Cannot write "${this.#name}": "${key}" ${what}; ${expected}`
  }
}

/** Equal for hosts of one record that mean the same. */
function hostKey(type: string, host: string): string {
  return `${type} ${normalTarget(host)}`
}

function ttlOf({ recordTTL = 0 }: Endpoint): number {
  return Math.max(0, recordTTL)
}

function whyNot(entry: Entry | Unreadable): string {
  if (!isReadable(entry)) return 'holds something else'
  const { owner } = entry.service
  return owner === '' ? 'belongs to nobody' : `belongs to "${owner}"`
}
