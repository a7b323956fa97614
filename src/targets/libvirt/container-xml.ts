// A machine as a container of libvirt-LXC: directories instead of disks, and the same cloud-init from a directory.

import type { Machine } from '../../machine/machine.ts'
import { type PlacedInterface, type Placement, PROGRAM } from './placement.ts'
import { xmlElement, xmlValue } from './xml-text.ts'

/** Where cloud-init looks for it before it looks at drives. */
const SEED_DIRECTORY = '/var/lib/cloud/seed/nocloud'

/** systemd keeps one that is there; its own would hide what is mounted below. */
const RUN = xmlElement(`filesystem type='ram'`, [`<source usage='65536' units='KiB'/>`, `<target dir='/run'/>`])

export function containerDevices(machine: Machine, { disks, interfaces }: Placement): readonly string[] {
  const data = machine.directories.find(({ isData }) => isData)
  return [
    mountOf(disks.root.path, '/'),
    ...(disks.data === undefined || data === undefined ? [] : [mountOf(disks.data.path, data.path)]),
    mountOf(disks.seed.path, SEED_DIRECTORY, ['<readonly/>']),
    ...(disks.program === undefined ? [] : [RUN, mountOf(disks.program.path, PROGRAM.volume, ['<readonly/>'])]),
    ...interfaces.map(interfaceOf),
    `<console type='pty'/>`,
  ]
}

function mountOf(source: string, target: string, more: readonly string[] = []): string {
  return xmlElement(`filesystem type='mount' accessmode='passthrough'`, [
    `<source dir='${xmlValue(source)}'/>`,
    `<target dir='${xmlValue(target)}'/>`,
    ...more,
  ])
}

function interfaceOf({ attach, mac }: PlacedInterface, index: number): string {
  const isNetwork = 'network' in attach
  return xmlElement(`interface type='${isNetwork ? 'network' : 'direct'}'`, [
    `<mac address='${xmlValue(mac)}'/>`,
    isNetwork
      ? `<source network='${xmlValue(attach.network)}'/>`
      : `<source dev='${xmlValue(attach.macvtap)}' mode='bridge'/>`,
    `<guest dev='eth${index}'/>`,
  ])
}
