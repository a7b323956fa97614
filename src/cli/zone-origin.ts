// Which zone a file holds when the user does not say so: the one in its name (`db.NAME`, `NAME.zone`), or the owner of its
// SOA record, or the whole name of the file.

import { basename } from 'node:path'
import { NameError, parseName, ROOT } from '../dns/name.ts'
import { TYPE } from '../dns/types.ts'
import { parseZoneFile } from '../dns/zonefile/parse.ts'
import { FileSource } from '../lib/file-source.ts'

export function guessOrigin(path: string): Uint8Array {
  const file = basename(path)
  const [, named] = /^(?:db\.(.+)|(.+)\.zone)$/u.exec(file)?.filter((group) => group !== undefined) ?? []
  return (named === undefined ? soaOwner(path) : parseFileName(named)) ?? parseFileName(file) ?? ROOT
}

function parseFileName(name: string): Uint8Array | undefined {
  try {
    return parseName(name, ROOT)
  } catch (error) {
    if (error instanceof NameError) return undefined
    throw error
  }
}

/** An origin that no file means. */
const UNKNOWN = parseName('\\000.')

/** The first SOA's owner as far as the file itself says it: `@` before any $ORIGIN says nothing. */
function soaOwner(path: string): Uint8Array | undefined {
  const owner = firstSoa(path, ROOT)
  if (owner === undefined || owner.length > ROOT.length) return owner
  // `@`, or the root zone, which is no part of any other.
  return firstSoa(path, UNKNOWN) === undefined ? ROOT : undefined
}

function firstSoa(path: string, origin: Uint8Array): Uint8Array | undefined {
  const file = new FileSource(path)
  let found: Uint8Array | undefined
  const source = { read: (into: Uint8Array, at: number) => (found === undefined ? file.read(into, at) : 0) }
  const sink = {
    record(owner: Uint8Array, ownerLength: number, type: number) {
      if (type === TYPE.SOA) found ??= owner.slice(0, ownerLength)
    },
  }
  parseZoneFile(source, { file: path, origin }, sink)
  file.close()
  return found
}
