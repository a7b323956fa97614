import { expect, test } from 'vitest'
import { HARDWARE } from '../../../test/support/machine-spec.ts'
import { describeHardware } from './describe-hardware.ts'

test('a virtual machine is described by what the stack file has', () => {
  const interfaces = {
    ...{ mac: undefined, prefixLength: undefined, gateway: undefined, dnsServers: [] },
  }
  const hardware = {
    ...HARDWARE,
    ...{ hypervisor: 'qemu+ssh://kvm1/system', vcpus: 2, memoryMib: 8192, volumeId: undefined },
    ...{ baseVolume: 'base.qcow2', volumePool: 'default', volumeSizeGib: 10, dataVolumeId: 'data/pg-1' },
    networks: [
      { ...interfaces, attach: { networkName: 'lab' }, ip: '192.168.121.4' },
      { ...interfaces, attach: { macvtap: 'eth0' }, ip: undefined },
    ],
  }
  expect(describeHardware('lab-etcd-1', hardware)).toEqual({
    ...{ domain: 'lab-etcd-1', hypervisor: 'qemu+ssh://kvm1/system', vcpus: 2, memoryMib: 8192 },
    disks: ['disk in pool default from base.qcow2, 10 GiB', 'data disk data/pg-1'],
    networks: ['network lab 192.168.121.4', 'macvtap on eth0'],
  })
  expect(describeHardware('x', { ...hardware, volumeId: '/vol' }).disks[0]).toBe('disk /vol')
})
