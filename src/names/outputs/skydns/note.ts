// Notes of ownership: texts that ExternalDNS's TXT registry keeps beside the records it manages. One name has the notes
// of one record, so those of one owner are versions of the same note, of which the last one counts.

import { LABEL } from '../../endpoints/endpoint.ts'
import { parseLabels } from '../../endpoints/labels.ts'

/** Encrypted notes are texts like any other. */
export function isNote(text: string): boolean {
  return parseLabels(text) !== undefined
}

/** Whether a text is one of these, or another version of one. */
export function sameTextAs(texts: readonly string[]): (text: string) => boolean {
  const exact = new Set(texts)
  const notes = texts.map(parseLabels).filter((labels) => labels !== undefined)
  const owners = new Set(notes.map((labels) => labels[LABEL.owner]))
  return (text) => {
    if (exact.has(text)) return true
    const labels = owners.size === 0 ? undefined : parseLabels(text)
    return labels !== undefined && owners.has(labels[LABEL.owner])
  }
}
