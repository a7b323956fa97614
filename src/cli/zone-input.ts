// The zones a command is given: files, or text on stdin. Read and checked as the server does, and their text kept.

import { DEFAULT_MAX_RECORDS, MAX_ZONE_BYTES } from '../dns/zonefile/limits.ts'
import { buffer } from 'node:stream/consumers'
import { formatProblem } from '../dns/zonefile/problem.ts'
import { HoldfastError } from '../lib/errors.ts'
import { FileSource } from '../lib/file-source.ts'
import { type LoadedZone, loadZoneText } from '../names/load-zone.ts'
import type { Io } from './command.ts'
import { printable } from './table.ts'
import { guessOrigin } from './zone-origin.ts'

const CHUNK_BYTES = 1 << 18

export interface InputZone extends LoadedZone {
  readonly label: string
  readonly origin: Uint8Array
  readonly text: Uint8Array
}

/** `-` is stdin, which says nothing about the zone it holds. */
export async function readInput(path: string, origin: Uint8Array | undefined, io: Io): Promise<InputZone> {
  if (path === '-' && origin === undefined)
    throw new HoldfastError('Usage', 'Cannot tell which zone is on stdin: expected "ORIGIN -" or --origin NAME')
  const label = path === '-' ? 'stdin' : path
  const text = path === '-' ? await buffer(io.stdin) : readFile(path)
  return checkText(label, origin ?? guessOrigin(path), text)
}

export function checkText(label: string, origin: Uint8Array, text: Uint8Array): InputZone {
  return {
    ...loadZoneText(text, label, origin, {
      requireNs: true,
      maxRecords: DEFAULT_MAX_RECORDS,
      maxBytes: MAX_ZONE_BYTES,
    }),
    label,
    origin,
    text,
  }
}

export function printProblems({ problems }: LoadedZone, io: Io): void {
  for (const problem of problems) io.stderr.write(`${printable(formatProblem(problem))}\n`)
}

function readFile(path: string): Uint8Array {
  const source = new FileSource(path)
  const chunks: Uint8Array[] = []
  for (;;) {
    const chunk = new Uint8Array(CHUNK_BYTES)
    const count = source.read(chunk, 0)
    if (count === 0) return Buffer.concat(chunks)
    chunks.push(chunk.subarray(0, count))
  }
}
