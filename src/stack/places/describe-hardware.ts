// What a virtual machine is made of, for a plan. By the stack file alone: no hypervisor is asked.

import type { Hardware, NetworkInterface } from '../../machine/hardware.ts'
import type { PlannedHardware } from '../plan.ts'

export function describeHardware(domain: string, hardware: Hardware): PlannedHardware {
  const { hypervisor, vcpus, memoryMib, dataVolumeId, networks } = hardware
  return {
    ...{ domain, hypervisor, vcpus, memoryMib },
    disks: [rootDisk(hardware), ...(dataVolumeId === undefined ? [] : [`data disk ${dataVolumeId}`])],
    networks: networks.map(networkWords),
  }
}

function rootDisk({ volumeId, baseVolume, volumePool, volumeSizeGib }: Hardware): string {
  if (volumeId !== undefined) return `disk ${volumeId}`
  const size = volumeSizeGib === undefined ? '' : `, ${volumeSizeGib} GiB`
  const pool = volumePool === undefined ? '' : ` in pool ${volumePool}`
  return `disk${pool} from ${baseVolume}${size}`
}

function networkWords({ attach, ip }: NetworkInterface): string {
  const to =
    'macvtap' in attach
      ? `macvtap on ${attach.macvtap}`
      : `network ${'networkName' in attach ? attach.networkName : attach.networkId}`
  return ip === undefined ? to : `${to} ${ip}`
}
