// A directory that follows a prefix of keys in etcd, as a service of a machine: `holdfast publish zonefiles` with a
// config.yml of its own, and how it logs in.

import { jsonContent } from '../../machine/content.ts'
import type { MachineFile, OnChange } from '../../machine/machine.ts'
import { octal } from '../../machine/octal.ts'
import { clientCertificate, type EtcdAccess, type Site } from '../site.ts'
import { hostFile, type HostPart } from './host-part.ts'

export interface EtcdMirror {
  readonly machine: string
  /** Of the service. */
  readonly name: string
  readonly user: string
  readonly etcd: EtcdAccess
  readonly prefix: string
  /** Where the files go; nothing else is kept there. */
  readonly directory: string
  readonly fileMode: number
  readonly directoryMode: number
  /** Kept when the machine goes. */
  readonly isData: boolean
  /** Files that stay when etcd has none of that name. */
  readonly keep?: readonly string[]
  /** Only good zones. */
  readonly zonesOnly: boolean
  /** Run after each batch of changes. */
  readonly notificationCommand?: readonly string[]
}

const HOME = '/etc/holdfast'
/** It may be that whoever is to be told has not come up yet. */
const NOTIFICATION_RETRIES = 30

export function etcdMirrorPart(mirror: EtcdMirror, site: Site): HostPart {
  const { machine, name, user, directory, directoryMode, isData, zonesOnly } = mirror
  const home = `${HOME}/${name}`
  const command = [...site.program, 'publish', 'zonefiles', '--config', site.path(machine, `${home}/config.yml`)]
  return {
    directories: [
      { path: HOME, owner: 'root', mode: 0o755 },
      { path: home, owner: 'root', mode: 0o755 },
      { path: directory, owner: user, mode: directoryMode, isData },
    ],
    files: files(mirror, home, (path) => site.path(machine, path)),
    services: [
      {
        name,
        user,
        command: zonesOnly ? [...command, '--validate'] : command,
        environment: {},
        stopSignal: 'SIGTERM',
        stopTimeoutMs: 5000,
      },
    ],
  }
}

function files(
  { name, user: owner, ...mirror }: EtcdMirror,
  home: string,
  path: (inside: string) => string,
): MachineFile[] {
  const { endpoints, ca, login } = mirror.etcd
  const paths = {
    ca: `${home}/etcd-ca.pem`,
    certificate: `${home}/etcd-client.pem`,
    key: `${home}/etcd-client.key`,
    password: `${home}/etcd-password.yml`,
  }
  const onChange: OnChange = { restart: name }
  const secret = { owner, mode: 0o600, onChange }
  const user = 'username' in login ? { username: login.username, password: login.password } : undefined
  const pair = clientCertificate(login)
  const config = {
    filesystem: {
      path: path(mirror.directory),
      files_permission: octal(mirror.fileMode),
      directories_permission: octal(mirror.directoryMode),
      ...(mirror.keep !== undefined && { keep: mirror.keep }),
    },
    etcd_client: {
      prefix: mirror.prefix,
      endpoints: endpoints.map((endpoint) => (endpoint.includes('://') ? endpoint : `https://${endpoint}`)),
      auth: {
        ca_cert: path(paths.ca),
        ...(user !== undefined && { password_auth: path(paths.password) }),
        ...(pair !== undefined && { client_cert: path(paths.certificate), client_key: path(paths.key) }),
      },
    },
    ...(mirror.notificationCommand !== undefined && {
      notification_command: mirror.notificationCommand,
      notification_command_retries: NOTIFICATION_RETRIES,
    }),
  }
  return [
    hostFile(`${home}/config.yml`, jsonContent(config), { onChange }),
    hostFile(paths.ca, ca, { onChange }),
    ...(user === undefined ? [] : [hostFile(paths.password, jsonContent(user), secret)]),
    ...(pair === undefined
      ? []
      : [hostFile(paths.certificate, pair.certificate, { onChange }), hostFile(paths.key, pair.key, secret)]),
  ]
}
