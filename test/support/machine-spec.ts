// A machine of a spec for tests, with the defaults of the stack file.

import type { MachineSpec } from '../../src/clusters/site.ts'
import type { Hardware } from '../../src/machine/hardware.ts'

export const HARDWARE: Hardware = {
  hypervisor: 'qemu:///system',
  accelerator: 'auto',
  vcpus: 2,
  memoryMib: 8192,
  volumeId: undefined,
  baseVolume: undefined,
  volumePool: undefined,
  volumeSizeGib: undefined,
  autostart: true,
  dataVolumeId: undefined,
  networks: [],
  cloudInitVolumePool: undefined,
  cloudInitVolumeName: undefined,
  sshAdminUser: 'ubuntu',
  adminUserPassword: undefined,
  sshAdminPublicKey: undefined,
  installDependencies: true,
  chrony: undefined,
  logs: undefined,
}

export function machineSpec(name: string, address: string): MachineSpec {
  return { name, address, moreAddresses: [], hardware: HARDWARE }
}
