// The script that sets up etcd's users, roles and permissions with etcdctl and turns authentication on. It compares
// before it changes anything, because every change of rights makes all clients log in again.

import { prefixRange } from '../../etcd/keys.ts'
import type { Site } from '../site.ts'
import { BY_CERTIFICATE, BY_PASSWORD, COMMON, HEAD } from './auth-shell.ts'
import { PATHS } from './settings.ts'
import type { EtcdSpec, EtcdUser } from './spec.ts'
import { clientUrl } from './urls.ts'

/** Inside the machine. */
export const AUTH_PATHS = {
  directory: '/etc/etcd/auth',
  script: '/etc/etcd/auth/set-up.sh',
  certificate: '/etc/etcd/auth/root.pem',
  key: '/etc/etcd/auth/root.key',
  /** What the script itself remembers. */
  kept: '/var/lib/etcd-auth',
} as const

export function passwordPath(user: string): string {
  return `${AUTH_PATHS.directory}/${user}.password`
}

/** As etcd's API has them. */
const PERMISSION_TYPES = { read: {}, write: { permType: 1 }, readwrite: { permType: 2 } } as const

export function authScript(spec: EtcdSpec, site: Site): string {
  const { bootstrapMember, members } = spec
  const at = (path: string) => quote(site.path(bootstrapMember, path))
  const address = members.find(({ name }) => name === bootstrapMember)?.address ?? ''
  const settings = [
    'export ETCDCTL_API=3',
    `export ETCDCTL_ENDPOINTS=${quote(clientUrl(address))}`,
    `export ETCDCTL_CACERT=${at(PATHS.authorities)}`,
    `export ETCDCTL_CERT=${at(AUTH_PATHS.certificate)}`,
    `export ETCDCTL_KEY=${at(AUTH_PATHS.key)}`,
    // Whether authentication was ever enabled in this stack; and with the data that etcd has now, which the file is lost with.
    `enabled=${at(`${AUTH_PATHS.kept}/enabled`)}`,
    `checked=${at(`${PATHS.data}/member/authentication-enabled`)}`,
    `writable=${quote(writablePrefixes(spec).join('\n'))}`,
    ...(spec.clientCertAuth
      ? []
      : [`auth=${at(AUTH_PATHS.directory)}`, `kept=${at(`${AUTH_PATHS.kept}/root-passwords`)}`]),
  ]
  return [
    HEAD,
    settings.join('\n'),
    COMMON,
    spec.clientCertAuth ? BY_CERTIFICATE : BY_PASSWORD,
    `begin${spec.users.map(({ name }) => ` ${quote(name)}`).join('')}`,
    ...spec.users.map(userCall),
    'finish\n',
  ].join('\n')
}

/** Of the users of the stack; each has a sign in front, as the empty one stands for all keys. */
function writablePrefixes({ users }: EtcdSpec): string[] {
  const writable = users.flatMap(({ permissions }) => permissions.filter(({ access }) => access !== 'read'))
  return [...new Set(writable.map(({ prefix }) => `=${prefix}`))]
}

/** What etcd says of the permissions, beside what to tell it: `user NAME PERMISSIONS [ACCESS PREFIX]...` */
function userCall({ name, permissions }: EtcdUser): string {
  const wanted = merged(permissions)
  const told = wanted.map(({ key, rangeEnd, access }) =>
    JSON.stringify({ ...PERMISSION_TYPES[access], key: base64(key), range_end: base64(rangeEnd) }),
  )
  const words = [name, told.join('\n'), ...wanted.flatMap(({ access, prefix }) => [access, prefix])]
  return `user ${words.map(quote).join(' ')}`
}

type Access = EtcdUser['permissions'][number]['access']

/** One permission per prefix, which is all that etcd keeps, in its order. */
function merged(permissions: EtcdUser['permissions']) {
  const accesses = new Map<string, Access>()
  for (const { prefix, access } of permissions) {
    const other = accesses.get(prefix) ?? access
    accesses.set(prefix, other === access ? access : 'readwrite')
  }
  return [...accesses]
    .map(([prefix, access]) => ({ prefix, access, ...prefixRange(Buffer.from(prefix)) }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key))
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
