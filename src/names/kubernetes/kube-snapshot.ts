// The last good state of Kubernetes objects on disk, in the form that every source has it: of each object what is kept of
// it, under its kind and name, with its version.

import type { KubeObject, ObjectChange } from '../../kube/resource.ts'
import { SourceSnapshot, snapshotId } from '../snapshot.ts'

export interface RecalledObject {
  readonly groupId: string
  readonly key: string
  readonly version: bigint
  /** The object itself. */
  readonly read: () => KubeObject
}

/** There is one API server, whatever it is made of. */
const CLUSTER_ID = 0n

export class KubeSnapshot {
  readonly #snapshot: SourceSnapshot

  /** `identity`: differs for sources that differ. */
  constructor(directory: string, identity: readonly string[], onProblem: (message: string) => void) {
    this.#snapshot = SourceSnapshot.open(directory, snapshotId(['kubernetes', ...identity]), onProblem)
  }

  /** Undefined when there is none. What is returned is not kept. */
  recall(): { readonly savedAt: number; readonly objects: readonly RecalledObject[] } | undefined {
    const { content } = this.#snapshot
    if (content === undefined) return undefined
    const objects = Array.from(content.entries.values(), ({ key, value, modRevision }) => {
      const text = Buffer.from(key).toString()
      const at = text.indexOf('\n')
      const read = () => JSON.parse(Buffer.from(value).toString()) as KubeObject
      return { groupId: text.slice(0, at), key: text.slice(at + 1), version: modRevision, read }
    })
    this.#snapshot.release()
    return { savedAt: content.savedAt, objects }
  }

  append(groupId: string, changes: readonly ObjectChange[], revision: bigint): void {
    if (changes.length === 0) return
    const entries = changes.map(({ key, object, version = '' }) => ({
      key: Buffer.from(`${groupId}\n${key}`),
      value: object === undefined ? undefined : Buffer.from(JSON.stringify(object)),
      modRevision: versionOf(version),
      lease: 0n,
    }))
    this.#snapshot.append({ revision, clusterId: CLUSTER_ID, entries })
  }

  close(): void {
    this.#snapshot.close()
  }
}

/** Versions are numbers in every API server there is, and comparable since Kubernetes says so. */
export function versionOf(text: string): bigint {
  return /^\d+$/u.test(text) ? BigInt(text) : 0n
}
