// One watch on one member, as news in order. Large answers come in fragments: a revision that may be cut by the end of
// one is held back until the next, so that all its events are in one piece of news.

import { DELETED, type HEADER, type WATCH_ANSWER } from './messages.ts'
import type { KeyValue } from './kv.ts'
import type { Decoded } from './protobuf.ts'

export interface WatchEvent {
  readonly isDeletion: boolean
  /** Of a deletion only the key and the revision. */
  readonly kv: KeyValue
}

/**
 * `created`: the watch stands; this says nothing about what has been delivered. `events`: of one or more revisions,
 * complete and in order. `progress`: everything up to this revision has been delivered. `compacted`: what was asked for
 * is no longer kept; this is the last news.
 */
export type WatchNews =
  | { readonly kind: 'created'; readonly header: Decoded<typeof HEADER> }
  | { readonly kind: 'events'; readonly events: readonly WatchEvent[] }
  | { readonly kind: 'progress'; readonly revision: bigint }
  | { readonly kind: 'compacted'; readonly revision: bigint }

export async function* readWatch(answers: AsyncIterable<Decoded<typeof WATCH_ANSWER>>): AsyncGenerator<WatchNews> {
  let pending: WatchEvent[] = []
  for await (const { header, created, compactRevision, fragment, events } of answers) {
    if (compactRevision !== 0n) {
      yield { kind: 'compacted', revision: compactRevision }
      return
    }
    if (created) yield { kind: 'created', header }
    for (const { type, kv } of events) pending.push({ isDeletion: type === DELETED, kv })
    const complete = fragment ? beforeLastRevision(pending) : pending
    pending = pending.slice(complete.length)
    if (complete.length > 0) yield { kind: 'events', events: complete }
    else if (!created && !fragment) {
      // etcd sends this on the watch's own queue, behind all events it speaks of. (Not so what it answers when asked for
      // progress, which may overtake them in 3.4: so we do not ask.)
      yield { kind: 'progress', revision: header.revision }
    }
  }
}

function beforeLastRevision(events: readonly WatchEvent[]): readonly WatchEvent[] {
  const last = events.at(-1)?.kv.modRevision
  return events.slice(
    0,
    events.findIndex(({ kv }) => kv.modRevision === last),
  )
}
