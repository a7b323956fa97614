// What a machine is made of, as text by the name of its variable in the stack file, and what a change of each takes. The
// password of the administrator is not among them: nothing here may help to guess one. It is compared with what is on the cloud-init volume.

import { createHash } from 'node:crypto'
import type { Machine, PackageSource } from '../../machine/machine.ts'
import type { HardwareChange } from '../target.ts'
import type { WrittenMachine } from './cloud-init/seed-record.ts'
import type { PlacedInterface, Placement } from './placement.ts'

export function hardwareOf(machine: Machine, placement: Placement): Readonly<Record<string, string>> {
  const { hardware, packages } = machine
  const { disks } = placement
  const parts: Readonly<Record<string, string | number | boolean | undefined>> = {
    hypervisor: hardware.hypervisor,
    accelerator: hardware.accelerator === 'auto' ? `auto (${placement.domainType})` : hardware.accelerator,
    vcpus: hardware.vcpus,
    memory: hardware.memoryMib,
    autostart: hardware.autostart,
    volume_id: disks.root.isOurs ? undefined : disks.root.path,
    base_volume: disks.root.isOurs ? hardware.baseVolume : undefined,
    volume_size: disks.root.isOurs ? hardware.volumeSizeGib : undefined,
    'root volume': disks.root.isOurs ? disks.root.path : undefined,
    data_volume_id: disks.data?.path,
    'cloud-init volume': disks.seed.path,
    program: disks.program?.path,
    ssh_admin_user: hardware.sshAdminUser,
    ssh_admin_public_key: hardware.sshAdminPublicKey,
    install_dependencies: hardware.installDependencies,
    packages: hardware.installDependencies ? packages.toSorted().join(' ') : undefined,
    package_source: hardware.installDependencies ? machine.packageSources?.map(sourceText).join(', ') : undefined,
    ...networkParts(placement.interfaces),
  }
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}

/** Its address is not for everybody's eyes. */
function sourceText({ name, source, key }: PackageSource): string {
  const digest = createHash('sha256').update(`${source.trim()}\n${key.trim()}`).digest('hex')
  return `${name} (${digest.slice(0, 8)})`
}

function networkParts(interfaces: readonly PlacedInterface[]): Record<string, string | number | undefined> {
  const counts = { libvirt_network: 0, macvtap_interfaces: 0 }
  const parts = interfaces.map(({ attach, mac, ip, prefixLength, gateway, dnsServers }) => {
    const [variable, to] =
      'network' in attach
        ? (['libvirt_network', attach.network] as const)
        : (['macvtap_interfaces', attach.macvtap] as const)
    const name = `${variable}[${counts[variable]++}]`
    return {
      [name]: to,
      [`${name}.ip`]: ip,
      [`${name}.mac`]: mac,
      [`${name}.prefix_length`]: prefixLength,
      [`${name}.gateway`]: gateway,
      [`${name}.dns_servers`]: dnsServers.length === 0 ? undefined : dnsServers.join(' '),
    }
  })
  return Object.assign({}, ...parts) as Record<string, string | number | undefined>
}

export type RecordedInterface = Omit<PlacedInterface, 'mac'>

/** The interfaces in such a record. */
export function recordedInterfaces(hardware: Readonly<Record<string, string>>): readonly RecordedInterface[] {
  return Object.entries(hardware).flatMap(([name, to]) => {
    const ip = hardware[`${name}.ip`]
    if (ip === undefined) return []
    return [
      {
        attach: name.startsWith('libvirt_network') ? { network: to } : { macvtap: to },
        ip,
        prefixLength: Number(hardware[`${name}.prefix_length`]),
        gateway: hardware[`${name}.gateway`],
        dnsServers: hardware[`${name}.dns_servers`]?.split(' ') ?? [],
      },
    ]
  })
}

type Rule = Pick<HardwareChange, 'takes' | 'why'>

const AT_START: Rule = { takes: 'next start', why: 'a machine gets it when it starts' }
const AT_FIRST_BOOT: Rule = { takes: 'replace', why: 'it is set up once, at the first boot' }
const OTHER_DISK: Rule = { takes: 'replace', why: 'another disk is another machine' }

const RULES: Readonly<Record<string, Rule>> = {
  hypervisor: { takes: 'replace', why: 'machines do not move: it is made there, and removed here' },
  accelerator: AT_START,
  vcpus: AT_START,
  memory: AT_START,
  autostart: { takes: 'live', why: 'only its hypervisor has to know' },
  package_source: { takes: 'live', why: 'apt looks there from now on; packages are installed once, at the first boot' },
  program: { takes: 'live', why: 'the new one is put beside the old, and services start it from there' },
  volume_id: OTHER_DISK,
  base_volume: { takes: 'replace', why: 'its root disk was made from the other one' },
  volume_size: { takes: 'replace', why: 'its root disk is made with that size' },
  'root volume': OTHER_DISK,
  data_volume_id: { takes: 'replace', why: 'its data are on the other one' },
  'cloud-init volume': { takes: 'replace', why: 'it has been set up from the other one' },
}

/** `written`: the machine as it was written last. */
export function passwordChange(
  { hardware }: Machine,
  written: Pick<WrittenMachine, 'adminPassword'> | undefined,
): readonly HardwareChange[] {
  const [before, now] = [written?.adminPassword, hardware.adminUserPassword].map((password) => password?.reveal())
  if (written === undefined || before === now) return []
  const to = now === undefined ? 'none' : before === undefined ? 'a password' : 'another password'
  const from = before === undefined ? 'none' : 'a password'
  return [{ name: 'admin_user_password', from, to, takes: 'live', why: 'it is set in the machine' }]
}

/** In the order of the record, what is there no longer last. */
export function compareHardwareRecords(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly HardwareChange[] {
  const names = new Set([...Object.keys(now), ...Object.keys(before)])
  const changes = [...names].filter((name) => before[name] !== now[name])
  return changes.map((name) => ({
    name,
    from: before[name] ?? 'none',
    to: now[name] ?? 'none',
    ...ruleOf(name, before[name], now[name]),
  }))
}

function ruleOf(name: string, from: string | undefined, to: string | undefined): Rule {
  // It needs a drive to be put into.
  if (name === 'program' && (from === undefined || to === undefined)) return AT_START
  return RULES[name] ?? AT_FIRST_BOOT
}
