// fluent-bit, of its vendor's package or already in the image. What the stack file says makes three files at fixed paths, which a
// configuration that is taken from etcd may include; without one, or until it has come, they are the configuration.
//
//   fluent-bit.conf ─▶ default-config/fluent-bit-{service,inputs,output}.conf                  static
//   fluent-bit.conf ─▶ dynamic-config/index.conf ◀─ service fluent-bit-config ◀─ etcd          dynamic

import { plain } from '../../machine/content.ts'
import type { GivenPair, LogForwarding } from '../../machine/hardware.ts'
import type { Machine, MachineFile, OnChange, Service } from '../../machine/machine.ts'
import { unitName } from '../../machine/unit-name.ts'
import type { EtcdAccess, Site } from '../site.ts'
import { etcdMirrorPart } from './etcd-mirror.ts'
import { hostFile, type HostPart, joinParts } from './host-part.ts'
import { type Forward, logSources, type LogSource, SHARED_KEY, sharedKeyFile } from './log-sources.ts'

/** Where the vendor's packages have it. */
export const FLUENT_BIT = '/opt/fluent-bit/bin/fluent-bit'

const SERVICE = 'fluent-bit'
const HOME = '/etc/fluent-bit-customization'
/** What it starts with, and cannot start without. */
const INDEX = 'index.conf'
const PATHS = {
  config: `${HOME}/fluent-bit.conf`,
  service: `${HOME}/default-config/fluent-bit-service.conf`,
  inputs: `${HOME}/default-config/fluent-bit-inputs.conf`,
  output: `${HOME}/default-config/fluent-bit-output.conf`,
  dynamic: `${HOME}/dynamic-config`,
  dynamicIndex: `${HOME}/dynamic-config/${INDEX}`,
  ca: `${HOME}/forward_ca.crt`,
  environment: `${HOME}/forward.env`,
  /** How far the journal was read, by unit. */
  state: '/var/lib/fluent-bit',
}

export function fluentBitPart(logs: LogForwarding, machine: Machine, site: Site): HostPart {
  const { packageSource, etcd } = logs
  const path = (inside: string) => site.path(machine.name, inside)
  return joinParts([
    {
      ...(packageSource !== undefined && { packages: ['fluent-bit'], packageSources: [packageSource] }),
      directories: [
        { path: HOME, owner: 'root', mode: 0o755 },
        { path: `${HOME}/default-config`, owner: 'root', mode: 0o755 },
        { path: PATHS.state, owner: 'root', mode: 0o700 },
      ],
      files: files(logs, logSources(logs, machine), path),
    },
    ...(etcd === undefined ? [] : [dynamicPart(etcd, machine, site)]),
    { services: [service(logs, path)] },
  ])
}

function files(logs: LogForwarding, sources: readonly LogSource[], path: (inside: string) => string): MachineFile[] {
  const { forward, etcd } = logs
  const isDynamic = etcd !== undefined
  const onChange: OnChange = isDynamic ? { reload: SERVICE } : { restart: SERVICE }
  const conf = (at: string, text: string) => hostFile(at, plain(text), { onChange })
  const defaults = [PATHS.service, PATHS.inputs, PATHS.output].map((at) => `@INCLUDE ${path(at)}\n`).join('')
  return [
    conf(PATHS.service, section('SERVICE', { Flush: 1, Daemon: 'off', Log_Level: 'info' })),
    conf(PATHS.inputs, sources.map((source) => input(source, path)).join('\n')),
    conf(PATHS.output, forward === undefined ? '# The stack file names no receiver.\n' : output(forward, path)),
    ...(forward === undefined
      ? []
      : [conf(PATHS.ca, forward.caCert), sharedKeyFile(PATHS.environment, forward, SERVICE)]),
    ...(isDynamic ? [hostFile(PATHS.dynamicIndex, plain(defaults), { mode: 0o600, isInitial: true })] : []),
    conf(PATHS.config, isDynamic ? `@INCLUDE ${path(PATHS.dynamicIndex)}\n` : defaults),
  ]
}

function input({ service, unit, tag }: LogSource, path: (inside: string) => string): string {
  return section('INPUT', {
    Name: 'systemd',
    Tag: tag,
    Systemd_Filter: `_SYSTEMD_UNIT=${unit}`,
    DB: path(`${PATHS.state}/${service}.db`),
    // Then it stops reading: the journal keeps what the receiver cannot take.
    Mem_Buf_Limit: '10MB',
  })
}

function output({ domain, port, hostname }: Forward, path: (inside: string) => string): string {
  return section('OUTPUT', {
    Name: 'forward',
    Match: '*',
    Host: domain,
    Port: port,
    Self_Hostname: hostname,
    Shared_Key: `\${${SHARED_KEY}}`,
    Retry_Limit: 'no_limits',
    tls: 'on',
    'tls.verify': 'on',
    'tls.ca_file': path(PATHS.ca),
  })
}

function section(name: string, entries: Readonly<Record<string, string | number>>): string {
  return [`[${name}]`, ...Object.entries(entries).map(([key, value]) => `    ${key} ${value}`), ''].join('\n')
}

/** As root, as the vendor's unit has it: the journal is not for everybody. */
function service({ forward }: LogForwarding, path: (inside: string) => string): Service {
  return {
    name: SERVICE,
    user: 'root',
    command: [FLUENT_BIT, '--enable-hot-reload', '-c', path(PATHS.config)],
    environment: {},
    ...(forward !== undefined && { environmentFiles: [PATHS.environment] }),
    // A configuration that is wrong leaves the one before it in effect.
    reloadSignal: 'SIGHUP',
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 10_000,
  }
}

function dynamicPart(etcd: NonNullable<LogForwarding['etcd']>, { name }: Machine, site: Site): HostPart {
  const { keyPrefix, endpoints, caCertificate, client } = etcd
  const pair = (given: GivenPair) => ({ certificate: plain(given.certificate), key: [given.key] })
  const login: EtcdAccess['login'] =
    'username' in client ? { ...client, connection: client.connection && pair(client.connection) } : pair(client)
  return etcdMirrorPart(
    {
      machine: name,
      name: 'fluent-bit-config',
      // It tells systemd to reload, and what it writes is read by root.
      user: 'root',
      etcd: { endpoints, ca: plain(caCertificate), login },
      prefix: keyPrefix,
      directory: PATHS.dynamic,
      fileMode: 0o600,
      directoryMode: 0o700,
      isData: false,
      keep: [INDEX],
      zonesOnly: false,
      // Nothing is done where it does not run: it reads everything when it starts.
      notificationCommand: ['systemctl', 'try-reload-or-restart', unitName(SERVICE)],
    },
    site,
  )
}
