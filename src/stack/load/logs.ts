// Where the logs of a machine go, and by which agent: fluentd or fluent-bit.

import { FLUENT_BIT } from '../../clusters/host/fluent-bit.ts'
import { FLUENTD } from '../../clusters/host/fluentd.ts'
import type { Path } from '../../document/located.ts'
import { isOneLine } from '../../document/values.ts'
import type { GivenPair, LogForwarding } from '../../machine/hardware.ts'
import { MACHINE_DEFAULTS } from '../../machine/schema.ts'
import type { EtcdClientDocument } from '../../machine/schema-etcd.ts'
import type { FluentbitDocument, FluentdDocument } from '../../machine/schema-logs.ts'
import type { MachineEntry } from './hardware.ts'
import { type Given, nearest } from './layers.ts'
import type { StackResolver } from './resolver.ts'

export function logsOf(
  machine: string,
  settings: MachineEntry['settings'],
  resolver: StackResolver,
): LogForwarding | undefined {
  const [fluentd, fluentbit] = [nearest(settings, 'fluentd'), nearest(settings, 'fluentbit')]
  const agents = [fluentd, fluentbit].filter((agent) => agent?.value.enabled)
  const [agent] = agents
  if (agent === undefined) return undefined
  resolver.withoutEffect(agent.path)
  if (agents.length > 1)
    resolver.problem(agent.path, '"fluentd" and "fluentbit" are both enabled; expected one of both')
  const logs: LogForwarding = {
    agent: agent === fluentd ? 'fluentd' : 'fluentbit',
    tags: tagsOf(agent.value),
    forward: forwardOf(machine, agent, resolver),
    etcd: agent === fluentbit ? dynamicOf(fluentbit, resolver) : undefined,
    buffer: agent === fluentd ? bufferOf(fluentd, resolver) : undefined,
    packageSource: packageSourceOf(agent, resolver),
  }
  const isDynamic = agent === fluentbit && fluentbit.value.etcd?.enabled
  if (logs.forward === undefined && !isDynamic) resolver.problem(agent.path, 'logs go nowhere; expected "forward"')
  const isInstalled = nearest(settings, 'install_dependencies')?.value ?? MACHINE_DEFAULTS.install_dependencies
  if (!resolver.isLocal && isInstalled && logs.packageSource === undefined)
    resolver.notice(
      agent.path,
      `Debian has no package of it: expected an image with ${logs.agent === 'fluentd' ? FLUENTD : FLUENT_BIT}, or "package_source"`,
    )
  return logs
}

function bufferOf({ path, value: { buffer } }: Given<FluentdDocument>, resolver: StackResolver): string | undefined {
  if (buffer?.customized !== true) return undefined
  if (buffer.custom_value.trim() === '')
    resolver.problem([...path, 'buffer'], 'the buffer is customized to nothing; expected "custom_value"')
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
  if (!isOneLine(sharedKey.reveal()))
    resolver.problem(
      [...path, 'forward', 'shared_key'],
      'it has a line break or another control character in it; expected a key of one line',
    )
  const caCert = resolver.pem(ca_cert, [...path, 'forward', 'ca_cert'])
  return { domain, port, hostname: hostname === '' ? machine : hostname, sharedKey, caCert }
}

function dynamicOf({ path, value }: Given<FluentbitDocument>, resolver: StackResolver): LogForwarding['etcd'] {
  if (value.etcd === undefined || !value.etcd.enabled) return undefined
  const { key_prefix, endpoints, ca_certificate, client } = value.etcd
  const at = [...path, 'etcd']
  if (endpoints === undefined || ca_certificate === undefined || client === undefined) {
    resolver.problem(at, 'it is enabled without a cluster; expected "endpoints", "ca_certificate" and "client"')
    return undefined
  }
  if (key_prefix === '')
    resolver.problem(at, 'it has no "key_prefix", and would take all of etcd; expected what the keys begin with')
  const login = clientOf(client, [...at, 'client'], resolver)
  const caCertificate = resolver.pem(ca_certificate, [...at, 'ca_certificate'])
  return login && { keyPrefix: key_prefix, endpoints, caCertificate, client: login }
}

/** How to log in to etcd: the schema has made sure that there is one way at least. */
export function clientOf(
  { certificate, key, username, password }: EtcdClientDocument,
  path: Path,
  resolver: StackResolver,
): NonNullable<LogForwarding['etcd']>['client'] | undefined {
  const pair = pairOf({ certificate, key }, path, resolver)
  if (username === undefined) return pair
  const secret = password === undefined ? undefined : resolver.secret(password, [...path, 'password'])
  return secret && { username, password: secret, connection: pair }
}

/** A client certificate, where one is given. */
export function pairOf(
  { certificate, key }: Pick<EtcdClientDocument, 'certificate' | 'key'>,
  path: Path,
  resolver: StackResolver,
): GivenPair | undefined {
  if (certificate === undefined || key === undefined) return undefined
  const secretKey = resolver.secret(key, [...path, 'key'])
  return secretKey && { certificate: resolver.pem(certificate, [...path, 'certificate']), key: secretKey }
}
