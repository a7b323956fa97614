// What cloud-init gets of a machine: three texts on a volume labelled `cidata` (NoCloud). A pure function of the machine
// and its place.

import { type Content, reveal } from '../../../machine/content.ts'
import type { Machine } from '../../../machine/machine.ts'
import type { Placement } from '../placement.ts'
import { networkConfig } from './network-config.ts'
import { userData } from './user-data.ts'
import type { WrittenFiles } from './written-file.ts'
import { yamlContent } from './yaml-content.ts'

export interface CloudInit {
  readonly userData: Content
  readonly metaData: string
  readonly networkConfig: string
}

/** `written`: kept from machine to machine, as those of a kind share most of their files. */
export function renderCloudInit(
  machine: Machine,
  placement: Placement,
  written: WrittenFiles = new WeakMap(),
): CloudInit {
  return {
    userData: userData(machine, placement, written),
    metaData: reveal(yamlContent({ 'instance-id': placement.instanceId, 'local-hostname': machine.name })),
    networkConfig: networkConfig(placement),
  }
}
