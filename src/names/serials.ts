// Serials that the server manages: the same content has the same serial after a restart, other content a newer one
// (RFC 1982), whatever its author wrote. What each zone last had is kept in a file like a source's snapshot.

import { SourceSnapshot } from './snapshot.ts'

/** `wanted` when it is newer than `previous`, else the one after `previous`; 0 is skipped, as some treat it as none. */
export function nextSerial(previous: number | undefined, wanted: number): number {
  if (previous === undefined || isNewer(wanted, previous)) return wanted
  return (previous + 1) >>> 0 || 1
}

/** RFC 1982 3.2: ahead by less than half of the circle. */
function isNewer(serial: number, than: number): boolean {
  const ahead = (serial - than) >>> 0
  return ahead > 0 && ahead < 2 ** 31
}

interface KnownSerial {
  readonly serial: number
  readonly hash: string
}

export class SerialStore {
  readonly #known = new Map<string, KnownSerial>()
  readonly #snapshot: SourceSnapshot | undefined
  #revision = 0n

  /** Without a directory, serials are known until the process ends. */
  static open(directory: string | undefined, id: string, onProblem: (message: string) => void): SerialStore {
    return new SerialStore(directory === undefined ? undefined : SourceSnapshot.open(directory, id, onProblem))
  }

  private constructor(snapshot: SourceSnapshot | undefined) {
    this.#snapshot = snapshot
    for (const [origin, { value }] of snapshot?.content?.entries ?? []) {
      const [serial, hash] = Buffer.from(value).toString('latin1').split(' ')
      this.#known.set(origin, { serial: Number(serial), hash })
    }
    this.#revision = snapshot?.content?.revision ?? 0n
    snapshot?.release()
  }

  /** The serial of content with this hash; `wanted` is what its author or the clock proposes. */
  serialFor(origin: string, contentHash: string, wanted: number): number {
    const known = this.#known.get(origin)
    if (known?.hash === contentHash) return known.serial
    const serial = nextSerial(known?.serial, wanted)
    this.#known.set(origin, { serial, hash: contentHash })
    this.#write(origin)
    return serial
  }

  /** The zone is gone for good; should it come back, it begins anew. */
  forget(origin: string): void {
    if (this.#known.delete(origin)) this.#write(origin)
  }

  /** At once, before anybody is answered with it: a process that is killed must not go back. */
  #write(origin: string): void {
    if (this.#snapshot === undefined) return
    // By the clock, so that of two stores on one file, as there are during a reload, the later one counts.
    const now = BigInt(Date.now())
    const modRevision = now > this.#revision ? now : this.#revision + 1n
    this.#revision = modRevision
    const known = this.#known.get(origin)
    const value = known && Buffer.from(`${known.serial} ${known.hash}`, 'latin1')
    const entries = [{ key: Buffer.from(origin, 'latin1'), value, modRevision, lease: 0n }]
    this.#snapshot.append({ revision: modRevision, clusterId: 0n, entries })
  }

  close(): void {
    this.#snapshot?.close()
  }
}
