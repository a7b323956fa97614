// Notes of ownership: texts that ExternalDNS's TXT registry keeps beside the records it manages. One name has the notes
// of one record, so those of one owner are versions of the same note, of which the last one counts.

import { LABEL } from '../../endpoints/endpoint.ts'
import { parseLabels } from '../../endpoints/labels.ts'

/** Encrypted notes are texts like any other. */
export function isNote(text: string): boolean {
  return parseLabels(text) !== undefined
}

export function isSameText(a: string, b: string): boolean {
  if (a === b) return true
  const [left, right] = [parseLabels(a), parseLabels(b)]
  return left !== undefined && right !== undefined && left[LABEL.owner] === right[LABEL.owner]
}
