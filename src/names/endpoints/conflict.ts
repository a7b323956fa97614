// Who gets a name that several want, after ExternalDNS: whoever has it keeps it, else the smallest targets win; and
// addresses go before an alias, which cannot stand beside them (RFC 1034 section 3.6.2).

import { type Endpoint, LABEL } from './endpoint.ts'
import { compareTargets, compareText } from './targets.ts'

/** The one of the candidates (at least one) that becomes the record; `current` is what there is. */
export function chooseCandidate(candidates: readonly Endpoint[], current?: Endpoint): Endpoint {
  if (candidates.length === 1) return candidates[0]
  const resource = current?.labels[LABEL.resource]
  const incumbents = candidates.filter(({ labels }) => resource !== undefined && labels[LABEL.resource] === resource)
  return (incumbents.length > 0 ? incumbents : candidates).reduce((least, each) =>
    compareCandidates(each, least) < 0 ? each : least,
  )
}

/** Splits off the aliases that cannot be, for the other types that are wanted of the same name. */
export function withoutMixedAliases(candidates: readonly Endpoint[]): {
  readonly kept: readonly Endpoint[]
  readonly dropped: readonly Endpoint[]
} {
  const kept = candidates.filter(({ recordType }) => recordType !== 'CNAME')
  if (kept.length === 0 || kept.length === candidates.length) return { kept: candidates, dropped: [] }
  return { kept, dropped: candidates.filter(({ recordType }) => recordType === 'CNAME') }
}

/** Something always decides between equals, the resource first, so that the order in which they came does not. */
function compareCandidates(a: Endpoint, b: Endpoint): number {
  return compareTargets(a.targets, b.targets) || compareText(tieBreak(a), tieBreak(b))
}

function tieBreak({ labels, recordTTL = 0, providerSpecific }: Endpoint): string {
  return JSON.stringify([labels[LABEL.resource] ?? '', recordTTL, providerSpecific])
}
