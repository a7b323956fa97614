// The settings of one machine, from its own entry, its cluster and the top of the file, as what the machine is made of.

import type { Path } from '../../document/located.ts'
import type { SecretPlace } from '../../document/values.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Chrony, Hardware, NetworkInterface } from '../../machine/hardware.ts'
import { MACHINE_DEFAULTS, type MachineDocument, type SettingsDocument } from '../../machine/schema.ts'
import { type Layer, nearest } from './layers.ts'
import { logsOf } from './logs.ts'
import type { StackResolver } from './resolver.ts'

export interface MachineEntry {
  readonly name: string
  readonly path: Path
  /** Undefined where the file has only their number. */
  readonly document: MachineDocument | undefined
  /** From near to far. */
  readonly settings: readonly Layer<SettingsDocument>[]
}

export function hardwareOf({ name, path, document, settings }: MachineEntry, resolver: StackResolver): Hardware {
  const setting = <K extends keyof SettingsDocument>(key: K) => nearest(settings, key)?.value
  const password = nearest(settings, 'admin_user_password')
  return {
    hypervisor: setting('hypervisor') ?? MACHINE_DEFAULTS.hypervisor,
    accelerator: setting('accelerator') ?? MACHINE_DEFAULTS.accelerator,
    vcpus: setting('vcpus') ?? MACHINE_DEFAULTS.vcpus,
    memoryMib: setting('memory') ?? MACHINE_DEFAULTS.memory,
    volumeId: document?.volume_id,
    baseVolume: setting('base_volume'),
    volumePool: setting('volume_pool'),
    volumeSizeGib: setting('volume_size'),
    autostart: setting('autostart') ?? MACHINE_DEFAULTS.autostart,
    dataVolumeId: document?.data_volume_id,
    networks: document === undefined ? [] : networksOf(document, path, resolver),
    cloudInitVolumePool: setting('cloud_init_volume_pool') ?? setting('volume_pool'),
    cloudInitVolumeName: document?.cloud_init_volume_name,
    sshAdminUser: setting('ssh_admin_user') ?? MACHINE_DEFAULTS.ssh_admin_user,
    adminUserPassword: password && passwordOf(password, resolver),
    sshAdminPublicKey: setting('ssh_admin_public_key'),
    installDependencies: setting('install_dependencies') ?? MACHINE_DEFAULTS.install_dependencies,
    chrony: chronyOf(settings, resolver),
    logs: logsOf(name, settings, resolver),
  }
}

/** A line of a program that sets it: what follows would be another line. */
function passwordOf({ value, path }: { value: SecretPlace; path: Path }, resolver: StackResolver): Secret | undefined {
  const secret = resolver.secret(value, path)
  if (secret !== undefined && /\p{Cc}/u.test(secret.reveal()))
    resolver.problem(path, 'the password has a line end or another control character; expected one line of text')
  return secret
}

function networksOf(document: MachineDocument, path: Path, resolver: StackResolver): NetworkInterface[] {
  const { libvirt_network, libvirt_networks, macvtap_interfaces = [] } = document
  if (libvirt_network !== undefined && libvirt_networks !== undefined)
    resolver.problem(path, '"libvirt_network" stands beside "libvirt_networks"; expected one of both')
  const networks = [libvirt_network ?? libvirt_networks ?? []].flat()
  return [
    ...networks.map(({ network_id, network_name = '', ...address }) => ({
      attach: network_id === undefined ? { networkName: network_name } : { networkId: network_id },
      ...addressOf(address),
    })),
    ...macvtap_interfaces.map(({ interface: macvtap, ...address }) => ({ attach: { macvtap }, ...addressOf(address) })),
  ]
}

type AddressDocument = Omit<NonNullable<MachineDocument['macvtap_interfaces']>[number], 'interface'>

function addressOf({ ip, mac, prefix_length, gateway, dns_servers = [] }: AddressDocument) {
  return { ip, mac, prefixLength: prefix_length, gateway, dnsServers: dns_servers }
}

function chronyOf(settings: MachineEntry['settings'], resolver: StackResolver): Chrony | undefined {
  const chrony = nearest(settings, 'chrony')
  if (chrony === undefined || !chrony.value.enabled) return undefined
  resolver.withoutEffect(chrony.path)
  const { servers, pools, makestep } = chrony.value
  if (servers.length === 0 && pools.length === 0)
    resolver.problem(chrony.path, 'the clock would follow nobody; expected "servers" or "pools"')
  return { servers, pools, makestep }
}
