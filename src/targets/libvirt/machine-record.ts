// What a domain says about itself: the one state there is of a machine, kept by libvirt in the domain's metadata. No
// secret is in it, and nothing a secret could be guessed from. What files it was made with is on its cloud-init volume.

import type { MachineKind } from '../../machine/machine.ts'
import type { PlacedDisks } from './placement.ts'

export interface MachineRecord {
  readonly stack: string
  readonly machine: string
  readonly kind: MachineKind
  readonly address: string
  readonly instanceId: string
  /** Digest of the cloud-init volume as it was written last. */
  readonly seedDigest: string
  readonly disks: PlacedDisks
  /** What it was made of, by the name of the variable, as text: what differs now is told by name. */
  readonly hardware: Readonly<Record<string, string>>
}
