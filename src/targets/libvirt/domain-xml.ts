// A machine as libvirt's description of a domain. Pure: the same machine in the same place gives the same text, so
// defining it again changes nothing. Everything a guest needs from the start is in it; the rest is cloud-init's.

import type { Machine } from '../../machine/machine.ts'
import { containerDevices } from './container-xml.ts'
import { diskSource, diskType, isBlockDevice } from './disk-source.ts'
import type { MachineRecord } from './machine-record.ts'
import { DATA_SERIAL, type PlacedDisk, type PlacedInterface, type Placement } from './placement.ts'
import { recordElement } from './record-xml.ts'
import { xmlElement, xmlText, xmlValue } from './xml-text.ts'

/** Its drive in the guest, and for `changeMedia`. */
export const SEED_DRIVE = 'sda'
export const PROGRAM_DRIVE = 'sdb'

export function renderDomain(machine: Machine, placement: Placement, record: MachineRecord): string {
  const { vcpus, memoryMib } = machine.hardware
  const { domainType, domain, uuid, kind } = placement
  const parts = [
    `<name>${xmlText(domain)}</name>`,
    `<uuid>${uuid}</uuid>`,
    `<title>${xmlText(`${machine.name} of ${placement.stack}`)}</title>`,
    `<metadata>${recordElement(record)}</metadata>`,
    `<memory unit='MiB'>${memoryMib}</memory>`,
    `<vcpu>${vcpus}</vcpu>`,
    ...(kind === 'lxc' ? containerParts(machine, placement) : machineParts(machine, placement)),
  ]
  return `${xmlElement(`domain type='${domainType}'`, parts)}\n`
}

function machineParts(machine: Machine, placement: Placement): readonly string[] {
  const isX86 = placement.arch === 'x86_64'
  return [
    isX86
      ? `<os>\n  <type arch='x86_64' machine='q35'>hvm</type>\n  <boot dev='hd'/>\n</os>`
      : `<os firmware='efi'>\n  <type arch='${xmlValue(placement.arch)}' machine='virt'>hvm</type>\n  <boot dev='hd'/>\n</os>`,
    isX86 ? `<features>\n  <acpi/>\n  <apic/>\n</features>` : `<features>\n  <acpi/>\n</features>`,
    cpuOf(placement),
    ...(isX86 ? [CLOCK] : [`<clock offset='utc'/>`]),
    ...LIFE,
    ...(isX86 ? [NO_SLEEP] : []),
    xmlElement('devices', machineDevices(machine, placement)),
  ]
}

function containerParts(machine: Machine, placement: Placement): readonly string[] {
  return [
    `<os>\n  <type arch='${xmlValue(placement.arch)}'>exe</type>\n  <init>/sbin/init</init>\n</os>`,
    `<features>\n  <privnet/>\n</features>`,
    `<clock offset='utc'/>`,
    ...LIFE,
    xmlElement('devices', containerDevices(machine, placement)),
  ]
}

/**
 * With KVM all that the processor has. Emulated, a model that Linux does not protect from Meltdown, which costs an emulator a fifth of its time,
 * with what current systems and TLS want (x86-64-v2, AES).
 */
function cpuOf({ domainType, arch }: Placement): string {
  if (domainType === 'kvm') return `<cpu mode='host-passthrough' check='none' migratable='on'/>`
  const isX86 = arch === 'x86_64'
  return xmlElement(`cpu mode='custom' match='exact' check='none'`, [
    `<model fallback='allow'>${isX86 ? 'Opteron_G3' : 'cortex-a57'}</model>`,
    ...(isX86 ? EMULATED_FEATURES : []).map((name) => `<feature policy='require' name='${name}'/>`),
  ])
}

const EMULATED_FEATURES = ['ssse3', 'sse4.1', 'sse4.2', 'aes', 'pclmuldq'] as const

/** As libvirt's own tools set it up: a guest that was paused catches up, and does without the slow timer. */
const CLOCK = `<clock offset='utc'>
  <timer name='rtc' tickpolicy='catchup'/>
  <timer name='pit' tickpolicy='delay'/>
  <timer name='hpet' present='no'/>
</clock>`

const LIFE = [
  '<on_poweroff>destroy</on_poweroff>',
  '<on_reboot>restart</on_reboot>',
  '<on_crash>restart</on_crash>',
] as const

const NO_SLEEP = `<pm>\n  <suspend-to-mem enabled='no'/>\n  <suspend-to-disk enabled='no'/>\n</pm>`

function machineDevices(machine: Machine, { disks, interfaces }: Placement): readonly string[] {
  return [
    diskOf(disks.root, 'vda'),
    ...(disks.data === undefined ? [] : [diskOf(disks.data, 'vdb', DATA_SERIAL)]),
    driveOf(disks.seed, SEED_DRIVE, ''),
    // A machine that has copied it boots without it, too.
    ...(disks.program === undefined ? [] : [driveOf(disks.program, PROGRAM_DRIVE, ` startupPolicy='optional'`)]),
    // Kernels for the cloud know virtio, and no SATA.
    `<controller type='scsi' model='virtio-scsi'/>`,
    ...interfaces.map(interfaceOf),
    `<serial type='pty'>\n  <target port='0'/>\n</serial>`,
    `<console type='pty'>\n  <target type='serial' port='0'/>\n</console>`,
    `<console type='pty'>\n  <target type='virtio' port='1'/>\n</console>`,
    `<channel type='unix'>\n  <target type='virtio' name='org.qemu.guest_agent.0'/>\n</channel>`,
    // Patroni keeps it quiet: a primary that hangs is reset before its lease is somebody else's.
    ...(machine.kind === 'postgres' ? [`<watchdog model='i6300esb' action='reset'/>`] : []),
    `<memballoon model='virtio'/>`,
    `<rng model='virtio'>\n  <backend model='random'>/dev/urandom</backend>\n</rng>`,
  ]
}

/** What the guest no longer needs is given back to the pool. */
function diskOf(disk: PlacedDisk, device: string, serial?: string): string {
  const driver = isBlockDevice(disk.path) ? ` cache='none' io='native'` : ''
  return xmlElement(`disk type='${diskType(disk.path)}' device='disk'`, [
    `<driver name='qemu' type='${formatOf(disk)}'${driver} discard='unmap'/>`,
    diskSource(disk.path),
    `<target dev='${device}' bus='virtio'/>`,
    ...(serial === undefined ? [] : [`<serial>${serial}</serial>`]),
  ])
}

function driveOf(disk: PlacedDisk, device: string, policy: string): string {
  return xmlElement(`disk type='${diskType(disk.path)}' device='cdrom'`, [
    `<driver name='qemu' type='raw'/>`,
    diskSource(disk.path, policy),
    `<target dev='${device}' bus='scsi'/>`,
    '<readonly/>',
  ])
}

function interfaceOf({ attach, mac }: PlacedInterface): string {
  const isNetwork = 'network' in attach
  return xmlElement(`interface type='${isNetwork ? 'network' : 'direct'}'`, [
    `<mac address='${xmlValue(mac)}'/>`,
    isNetwork
      ? `<source network='${xmlValue(attach.network)}'/>`
      : `<source dev='${xmlValue(attach.macvtap)}' mode='bridge'/>`,
    `<model type='virtio'/>`,
  ])
}

/** libvirt calls an ISO image `iso`; QEMU reads it as it is. */
function formatOf({ format }: PlacedDisk): string {
  return format === 'qcow2' ? 'qcow2' : 'raw'
}
