// The settings of one machine, from its own entry, its cluster and the top of the file, as what the machine is made of.

import { FLUENT_BIT } from '../../clusters/host/fluent-bit.ts'
import { FLUENTD } from '../../clusters/host/fluentd.ts'
import type { Path } from '../../document/located.ts'
import type { SecretPlace } from '../../document/values.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Chrony, Hardware, LogForwarding, NetworkInterface } from '../../machine/hardware.ts'
import { MACHINE_DEFAULTS, type MachineDocument, type SettingsDocument } from '../../machine/schema.ts'
import type { EtcdClientDocument } from '../../machine/schema-etcd.ts'
import type { FluentbitDocument, FluentdDocument } from '../../machine/schema-logs.ts'
import { type Given, type Layer, nearest } from './layers.ts'
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
    resolver.problem(path, 'the password has a line end or another control character; wanted: one line of text')
  return secret
}

function networksOf(document: MachineDocument, path: Path, resolver: StackResolver): NetworkInterface[] {
  const { libvirt_network, libvirt_networks, macvtap_interfaces = [] } = document
  if (libvirt_network !== undefined && libvirt_networks !== undefined)
    resolver.problem(path, '"libvirt_network" stands beside "libvirt_networks"; wanted: one of both')
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
    resolver.problem(chrony.path, 'the clock would follow nobody; wanted: "servers" or "pools"')
  return { servers, pools, makestep }
}

function logsOf(
  machine: string,
  settings: MachineEntry['settings'],
  resolver: StackResolver,
): LogForwarding | undefined {
  const [fluentd, fluentbit] = [nearest(settings, 'fluentd'), nearest(settings, 'fluentbit')]
  const agents = [fluentd, fluentbit].filter((agent) => agent?.value.enabled)
  const [agent] = agents
  if (agent === undefined) return undefined
  resolver.withoutEffect(agent.path)
  if (agents.length > 1) resolver.problem(agent.path, '"fluentd" and "fluentbit" are both enabled; wanted: one of both')
  const logs: LogForwarding = {
    agent: agent === fluentd ? 'fluentd' : 'fluentbit',
    tags: tagsOf(agent.value),
    forward: forwardOf(machine, agent, resolver),
    etcd: agent === fluentbit ? dynamicOf(fluentbit, resolver) : undefined,
    buffer: agent === fluentd ? bufferOf(fluentd, resolver) : undefined,
    packageSource: packageSourceOf(agent, resolver),
  }
  const isDynamic = agent === fluentbit && fluentbit.value.etcd?.enabled
  if (logs.forward === undefined && !isDynamic) resolver.problem(agent.path, 'logs go nowhere; wanted: "forward"')
  const isInstalled = nearest(settings, 'install_dependencies')?.value ?? MACHINE_DEFAULTS.install_dependencies
  if (!resolver.isLocal && isInstalled && logs.packageSource === undefined)
    resolver.notice(
      agent.path,
      `Debian has no package of it: the image has to have ${logs.agent === 'fluentd' ? FLUENTD : FLUENT_BIT}, or "package_source" is wanted`,
    )
  return logs
}

function bufferOf({ path, value: { buffer } }: Given<FluentdDocument>, resolver: StackResolver): string | undefined {
  if (buffer?.customized !== true) return undefined
  if (buffer.custom_value.trim() === '')
    resolver.problem([...path, 'buffer'], 'the buffer is customized to nothing; wanted: "custom_value"')
  return buffer.custom_value
}

function packageSourceOf(
  { path, value }: Given<FluentdDocument | FluentbitDocument>,
  resolver: StackResolver,
): LogForwarding['packageSource'] {
  if (value.package_source === undefined) return undefined
  const { source, key } = value.package_source
  return { name: path.at(-1) as string, source, key: resolver.pem(key, [...path, 'package_source', 'key']) }
}

function tagsOf(agent: FluentdDocument | FluentbitDocument): Record<string, string> {
  const tags = Object.entries(agent).filter(([key, value]) => key.endsWith('_tag') && value !== '')
  return Object.fromEntries(tags.map(([key, value]) => [key.replace(/_tag$/u, ''), value as string]))
}

function forwardOf(
  machine: string,
  { path, value }: Given<FluentdDocument | FluentbitDocument>,
  resolver: StackResolver,
): LogForwarding['forward'] {
  if (value.forward === undefined) return undefined
  const { domain, port, hostname = '', shared_key, ca_cert } = value.forward
  const sharedKey = resolver.secret(shared_key, [...path, 'forward', 'shared_key'])
  if (sharedKey === undefined) return undefined
  const caCert = resolver.pem(ca_cert, [...path, 'forward', 'ca_cert'])
  return { domain, port, hostname: hostname === '' ? machine : hostname, sharedKey, caCert }
}

function dynamicOf({ path, value }: Given<FluentbitDocument>, resolver: StackResolver): LogForwarding['etcd'] {
  if (value.etcd === undefined || !value.etcd.enabled) return undefined
  const { key_prefix, endpoints, ca_certificate, client } = value.etcd
  const at = [...path, 'etcd']
  if (endpoints === undefined || ca_certificate === undefined || client === undefined) {
    resolver.problem(at, 'it is enabled without a cluster; wanted: "endpoints", "ca_certificate" and "client"')
    return undefined
  }
  if (key_prefix === '')
    resolver.problem(at, 'it has no "key_prefix", and would take all of etcd; wanted: what the keys begin with')
  const login = clientOf(client, [...at, 'client'], resolver)
  const caCertificate = resolver.pem(ca_certificate, [...at, 'ca_certificate'])
  return login && { keyPrefix: key_prefix, endpoints, caCertificate, client: login }
}

/** How to log in to etcd: the schema has made sure that it is one of both. */
export function clientOf(
  { certificate, key, username = '', password }: EtcdClientDocument,
  path: Path,
  resolver: StackResolver,
): NonNullable<LogForwarding['etcd']>['client'] | undefined {
  if (certificate !== undefined && key !== undefined) {
    const secretKey = resolver.secret(key, [...path, 'key'])
    return secretKey && { certificate: resolver.pem(certificate, [...path, 'certificate']), key: secretKey }
  }
  const secret = password === undefined ? undefined : resolver.secret(password, [...path, 'password'])
  return secret && { username, password: secret }
}
