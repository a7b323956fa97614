// What a domain says about itself: the one state there is of a machine, kept by libvirt in the domain's metadata. No
// secret is in it, and nothing a secret could be guessed from. What files it was made with is on its cloud-init volume.

import type { MachineKind, Service } from '../../machine/machine.ts'
import type { PlacedDisks } from './placement.ts'

/** Of a machine of which nobody knows what it has of what was written for it. */
export const UNKNOWN_DIGEST = 'unknown'

export interface MachineRecord {
  readonly stack: string
  /** Of the stack, where it was told one: another of the same name is somebody else's. */
  readonly stackId?: string
  readonly machine: string
  readonly kind: MachineKind
  readonly address: string
  readonly instanceId: string
  /** Digest of the cloud-init volume as it was written last. */
  readonly seedDigest: string
  readonly disks: PlacedDisks
  /** What it was made of, by the name of the variable, as text: what differs now is told by name. */
  readonly hardware: Readonly<Record<string, string>>
  /** It was started at least once: there may be data on its disks. */
  readonly hasBooted?: boolean
  /** Of the cloud-init volume that its own files are like; none before its first boot came to its end. */
  readonly appliedDigest?: string
  /** Its services as they were started last; none when they never were. */
  readonly started?: readonly Service[]
  /** Services that have not read what was written for them since. */
  readonly pending?: Readonly<Record<string, 'reload' | 'restart'>>
  /** Paths that it may still have, which were written once and are not any more. */
  readonly leftovers?: readonly string[]
  /** The machine was removed, and only its disks were kept, for its data. The definition stays with them: it says whose they are. */
  readonly isKept?: boolean
}
