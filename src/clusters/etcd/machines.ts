// From the etcd part of a stack file to machines: each runs one member, and one of them also sets up users and roles.
// etcd reads certificate and key anew for every connection, so renewing them needs no restart; authorities it does not.
// What it is configured with belongs to root: it can read that, and not change how it is started.

import { type Content, content, plain } from '../../machine/content.ts'
import type { Machine, MachineDirectory, MachineFile, OnChange, Service } from '../../machine/machine.ts'
import type { CertifiedKey, Site } from '../site.ts'
import {
  CERTIFICATE_LIFE,
  clientAuthorities,
  connectionCertificate,
  ROOT,
  serverAuthorities,
  userCertificate,
  userPassword,
} from './access.ts'
import { AUTH_PATHS, authScript, passwordPath } from './auth-script.ts'
import { checkUsers } from './check-users.ts'
import { initialSettings, type MemberPlace, memberSettings, PATHS, peerName } from './settings.ts'
import { ETCD_CLIENT_PORT, ETCD_PEER_PORT, type EtcdMember, type EtcdSpec } from './spec.ts'

/** The user that Debian's package makes. */
const USER = 'etcd'
const STOP_TIMEOUT_MS = 10_000
/** Of the bootstrap member: sets up users and roles. */
export const AUTH_STEP = 'etcd-auth'

/** `running`: members that a running cluster already has, also those that are about to leave it; none when it is new. */
export function etcdMachines(spec: EtcdSpec, site: Site, running: readonly MemberPlace[]): Machine[] {
  checkUsers(spec)
  const authorities = [
    file(PATHS.authorities, serverAuthorities(spec, site), { restart: 'etcd' }),
    file(PATHS.clientAuthorities, clientAuthorities(spec, site), { restart: 'etcd' }),
  ]
  return spec.members.map((member) => {
    const setsUp = member.name === spec.bootstrapMember
    return {
      name: member.name,
      kind: 'etcd',
      address: member.address,
      hardware: member.hardware,
      packages: ['etcd-server', 'etcd-client'],
      directories: [
        configDirectory(PATHS.config),
        dataDirectory(PATHS.data),
        ...(setsUp ? [configDirectory(AUTH_PATHS.directory), dataDirectory(AUTH_PATHS.kept)] : []),
      ],
      files: [
        ...authorities,
        ...certificateFiles(serverCertificate(member, site)),
        file(PATHS.settings, plain(memberSettings(spec, site, member)), { restart: 'etcd' }),
        initialFile(spec, member, running),
        ...(setsUp ? authFiles(spec, site) : []),
      ],
      services: [memberService(), ...(setsUp ? [authService(site, member.name)] : [])],
      ports: [
        { port: ETCD_CLIENT_PORT, protocol: 'tcp', purpose: 'etcd clients' },
        { port: ETCD_PEER_PORT, protocol: 'tcp', purpose: 'etcd peers' },
      ],
    }
  })
}

/** Who is not running yet may have one from an attempt that was interrupted, made for other members: it is replaced. */
function initialFile(spec: EtcdSpec, member: EtcdMember, running: readonly MemberPlace[]): MachineFile {
  const isInitial = running.some(({ name }) => name === member.name)
  return { ...file(PATHS.initial, plain(initialSettings(spec, member, running)), 'nothing'), isInitial }
}

/** A member that has started: from here on, etcd on it starts only with the data that it has by now. */
export function startedMachine(spec: EtcdSpec, machine: Machine): Machine {
  const member = spec.members.find(({ name }) => name === machine.name)
  if (member === undefined) return machine
  const started = { ...initialFile(spec, member, [member]), isInitial: false }
  return { ...machine, files: machine.files.map((each) => (each.path === PATHS.initial ? started : each)) }
}

/** Without a common name, which etcd could take for that of a user. */
function serverCertificate({ name, address, tls }: EtcdMember, site: Site): CertifiedKey {
  if (tls !== undefined) return { certificate: plain(tls.serverCert), key: [tls.serverKey] }
  return site.keyring.certificate({
    ...CERTIFICATE_LIFE,
    id: `${name}/server`,
    domains: [name, `${name}.${site.domain}`, 'localhost', peerName(site)],
    addresses: [address, '127.0.0.1'],
    usages: ['server', 'client'],
  })
}

function certificateFiles({ certificate, key }: CertifiedKey): MachineFile[] {
  return [file(PATHS.certificate, certificate, 'nothing'), secretFile(PATHS.key, key, 'nothing')]
}

function authFiles(spec: EtcdSpec, site: Site): MachineFile[] {
  const again = { restart: AUTH_STEP }
  const script = file(AUTH_PATHS.script, plain(authScript(spec, site)), again)
  const { certificate, key } = spec.clientCertAuth ? userCertificate(site, ROOT) : connectionCertificate(site, ROOT)
  const shared = [
    script,
    file(AUTH_PATHS.certificate, certificate, 'nothing'),
    secretFile(AUTH_PATHS.key, key, 'nothing'),
  ]
  if (spec.clientCertAuth) return shared
  const users = [ROOT, ...spec.users.map(({ name }) => name)]
  const passwords = users.map((user) => ({ user, password: userPassword(spec, site, user) }))
  return [
    ...shared,
    ...passwords.map(({ user, password }) => secretFile(passwordPath(user), content`${password}\n`, again)),
  ]
}

function memberService(): Service {
  return {
    name: 'etcd',
    user: USER,
    command: ['/usr/bin/etcd'],
    environment: {},
    environmentFiles: [PATHS.settings, PATHS.initial],
    stopSignal: 'SIGTERM',
    stopTimeoutMs: STOP_TIMEOUT_MS,
  }
}

function authService(site: Site, machine: string): Service {
  return {
    name: AUTH_STEP,
    user: USER,
    command: ['/bin/sh', site.path(machine, AUTH_PATHS.script)],
    environment: {},
    once: true,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: STOP_TIMEOUT_MS,
  }
}

function configDirectory(path: string): MachineDirectory {
  return { path, owner: 'root', mode: 0o755 }
}

function dataDirectory(path: string): MachineDirectory {
  return { path, owner: USER, mode: 0o700, isData: true }
}

function file(path: string, content: Content, onChange: OnChange): MachineFile {
  return { path, owner: 'root', mode: 0o644, content, onChange }
}

function secretFile(path: string, content: Content, onChange: OnChange): MachineFile {
  return { path, owner: USER, mode: 0o600, content, onChange }
}
