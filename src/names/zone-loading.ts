// A text on its way into service: read, checked, given its serial, made into a version of the zone. In steps, which may
// be given up until the version is in service; a text that is refused changes nothing.

import { performance } from 'node:perf_hooks'
import { parseName } from '../dns/name.ts'
import type { Steps } from '../dns/steps.ts'
import { formatProblem, type ZoneFileProblem } from '../dns/zonefile/problem.ts'
import { countRecordsSteps } from '../zone/count-records.ts'
import type { Arena } from '../zone/arena.ts'
import type { Directory } from '../zone/directory.ts'
import type { Entry } from './catalog-entry.ts'
import type { LoaderReport } from './loader-messages.ts'
import type { ZoneOffer, ZoneSource } from './offer.ts'
import type { SerialStore } from './serials.ts'
import { textSerials } from './zone-serials.ts'

export interface LoadingContext {
  readonly arena: Arena
  readonly directory: Directory
  readonly serials: SerialStore
  readonly report: (report: LoaderReport) => void
}

export interface LoadingCallbacks {
  /** What is in service changes from here on. */
  readonly onCommit: () => void
  readonly onRefused: (errors: readonly string[]) => void
}

/** More problems than this say nothing new. */
const PROBLEMS_SHOWN = 5

/** Returns whether the text is accepted. */
export function* loadIntoService(
  entry: Entry,
  source: ZoneSource,
  offer: ZoneOffer,
  { arena, directory, serials, report }: LoadingContext,
  { onCommit, onRefused }: LoadingCallbacks,
): Steps<boolean> {
  const started = performance.now()
  const { space, origin, slot, served } = entry
  const { requireNs, plugin } = source
  const previousSerial = served.serial
  const live = entry.live?.source === source ? entry.live.text : undefined
  // Where serials are managed, one that goes backwards does no harm.
  const isManaged = offer.version !== undefined
  const options = { requireNs, ...(previousSerial === undefined || isManaged ? {} : { previousSerial }) }
  const loaded = yield* offer.load(parseName(origin), options, live)
  const { builder, accepted, problems } = loaded
  const keep = loaded.live !== undefined || entry.parts.length > 0
  let isCommitted = false
  try {
    source.watchAlso(origin, loaded.included)
    if (!accepted) {
      onRefused(describe(problems, 'error'))
      return false
    }
    // Room of versions that readers have left since makes room for this one.
    directory.reclaim()
    const textSerial = yield* textSerials(serials, entry, source, offer.version, builder)
    const touched = live === undefined ? undefined : loaded.touched
    const records = yield* countRecordsSteps(builder)
    yield* served.setText({ rank: source.rank, builder }, touched, textSerial, () => {
      isCommitted = true
      entry.owesRemoval = false
      entry.retryMs = 0
      entry.live = loaded.live === undefined ? undefined : { source, text: loaded.live }
      onCommit()
    })
    directory.reclaim()
    report({
      ...{ kind: 'zone', space, origin, slot, plugin, file: offer.label },
      serial: served.serial ?? builder.serial,
      writtenSerial: builder.serial,
      serialChanged: previousSerial !== served.serial,
      records,
      warnings: describe(problems, 'warning'),
      milliseconds: performance.now() - started,
      arenaUsedBytes: arena.usedBytes,
      arenaBytes: arena.buffer.byteLength,
    })
    return true
  } finally {
    if (isCommitted && !keep) served.releaseText()
    if (!(isCommitted && keep) && builder !== live?.builder) builder.release()
  }
}

function describe(problems: readonly ZoneFileProblem[], severity: ZoneFileProblem['severity']): string[] {
  return problems
    .filter((problem) => problem.severity === severity)
    .slice(0, PROBLEMS_SHOWN)
    .map((problem) => formatProblem(problem))
}
