// What storing a zone would change, worked out before anything is stored.

import type { ZoneBuilder } from '../zone/build.ts'
import { diffZones, type ZoneDiff } from './zone-changes.ts'
import { checkText, type InputZone } from './zone-input.ts'
import { isNewerSerial, nextSerial, replaceSerial } from './zone-serial.ts'
import type { StoredZone, ZoneStore } from './zone-store.ts'

export interface ZonePlan {
  readonly input: InputZone
  readonly key: Uint8Array
  readonly stored: StoredZone | undefined
  /** The records stored; as many as could be read when they are no good zone. */
  readonly before: ZoneBuilder | undefined
  readonly diff: ZoneDiff
  /** False when the very same text is stored already. */
  readonly changed: boolean
  readonly warnings: readonly string[]
}

interface PlanOptions {
  readonly bumpSerial: boolean
  readonly now: Date
}

export function planZone(
  input: InputZone,
  stored: StoredZone | undefined,
  store: ZoneStore,
  { bumpSerial, now }: PlanOptions,
): ZonePlan {
  if (stored === undefined) {
    const diff = diffZones(undefined, input.zone)
    return { input, key: store.newKey(input.origin), stored, before: undefined, diff, changed: true, warnings: [] }
  }
  const { key } = stored
  const before = checkText(`stored ${stored.name}`, input.origin, stored.text)
  const warnings = before.accepted ? [] : [`what is stored (revision ${stored.revision}) is not a good zone`]
  const plan = (after: InputZone, more: readonly string[] = []): ZonePlan => ({
    input: after,
    key,
    stored,
    before: before.zone,
    diff: diffZones(before.zone, after.zone),
    changed: !Buffer.from(stored.text).equals(after.text),
    warnings: [...warnings, ...more],
  })
  const asGiven = plan(input)
  const { serial } = before.zone
  // A comment may change without anybody having to notice.
  if (asGiven.diff.length === 0 || isNewerSerial(input.zone.serial, serial)) return asGiven
  if (!bumpSerial) return plan(input, [staleSerial(input.zone.serial, serial)])
  const withSerial = (other: number) => {
    const text = replaceSerial(input.text, other)
    return text && plan(checkText(input.label, input.origin, text))
  }
  // The same file put again differs only by the serial that it was given the first time.
  const again = withSerial(serial)
  return (
    (again?.diff.length === 0 ? again : withSerial(nextSerial(serial, now))) ??
    plan(input, [`serial ${input.zone.serial} cannot be raised: the SOA record does not have it as a number`])
  )
}

function staleSerial(serial: number, stored: number): string {
  const what =
    serial === stored
      ? `serial ${serial} is the one stored, although records differ`
      : `serial ${serial} is older than ${stored}, which is stored: was the file made from an older version?`
  return `${what}; secondaries will not notice the change (--bump-serial raises it)`
}
