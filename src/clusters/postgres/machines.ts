// From the postgres part of a stack file to machines: on each one Patroni, which runs PostgreSQL. When Patroni is killed,
// PostgreSQL stays, and the next Patroni takes it over.

import { type Content, jsonContent, plain } from '../../machine/content.ts'
import type { Machine, MachineFile, OnChange, Service } from '../../machine/machine.ts'
import { clientCertificate, type EtcdAccess, etcdOf, type Site } from '../site.ts'
import { memberCertificate } from './certificates.ts'
import { PATHS, POSTGRES_USER, versionPaths } from './paths.ts'
import { patroniConfig } from './patroni-config.ts'
import { program } from './programs.ts'
import { postgresRoles } from './roles.ts'
import { bootstrapSettings, sharedSettings } from './settings.ts'
import { SETTINGS_STEP } from './settings-step.ts'
import { PATRONI_PORT, POSTGRES_PORT, type PostgresMember, type PostgresSpec } from './spec.ts'

/** Debian's Patroni does without python3-idna, and then cannot reach an etcd that has TLS. */
const PACKAGES: readonly string[] = ['patroni', 'python3-etcd', 'python3-idna']
const PYTHON = '/usr/bin/python3'
export const PATRONI_SERVICE = 'patroni'
/** The step that sets what members share. */
export const SETTINGS_SERVICE = 'patroni-settings'
const ENVIRONMENT = { LANG: 'C.UTF-8', PATH: '/usr/bin:/bin' }
const STOP_TIMEOUT_SECONDS = 60

/** `etcd`: as the user that Patroni is there, unless a member has another. */
export function postgresMachines(spec: PostgresSpec, site: Site, etcd: EtcdAccess): Machine[] {
  return spec.members.map((member, index) => {
    // What is shared has to be set by one of them; any would do.
    const setsSettings = index === 0
    return {
      name: member.name,
      kind: 'postgres',
      address: member.address,
      hardware: member.hardware,
      packages: [...PACKAGES, site.postgresPackage ?? 'postgresql'],
      directories: [
        { path: PATHS.config, owner: POSTGRES_USER, mode: 0o700 },
        { path: versionPaths(site.postgresVersion).home, owner: POSTGRES_USER, mode: 0o700, isData: true },
      ],
      files: [
        ...memberFiles(spec, member, site, etcdOf(etcd, member)),
        ...(setsSettings ? settingsFiles(spec, site) : []),
      ],
      services: [
        patroniService(spec, member, site, etcdOf(etcd, member)),
        ...(setsSettings ? [settingsService(member, site)] : []),
      ],
      ports: [
        { port: POSTGRES_PORT, protocol: 'tcp', purpose: 'PostgreSQL' },
        { port: PATRONI_PORT, protocol: 'tcp', purpose: 'Patroni REST API' },
      ],
    }
  })
}

function memberFiles(spec: PostgresSpec, member: PostgresMember, site: Site, etcd: EtcdAccess): MachineFile[] {
  const { certificate, key } = site.keyring.certificate(memberCertificate(spec, member, site))
  const reloads = (path: string, content: Content) => file(path, content, { reload: PATRONI_SERVICE })
  return [
    file(PATHS.clearUnfinished, plain(program('clear-unfinished')), 'nothing'),
    file(PATHS.keptData, plain(program('kept_data')), { restart: PATRONI_SERVICE }),
    file(PATHS.replaceData, plain(program('replace_data')), { restart: PATRONI_SERVICE }),
    file(PATHS.fence, plain(program('fence')), 'nothing'),
    file(PATHS.fencing, plain(program('fencing')), { restart: PATRONI_SERVICE }),
    file(PATHS.start, plain(program('start-patroni')), { restart: PATRONI_SERVICE }),
    reloads(PATHS.ca, site.keyring.authority),
    reloads(PATHS.etcdCa, etcd.ca),
    ...etcdCertificateFiles(etcd),
    reloads(PATHS.certificate, certificate),
    reloads(PATHS.key, key),
    reloads(PATHS.patroni, jsonContent(patroniConfig(spec, member, site, etcd))),
    { ...file(PATHS.bootstrap, jsonContent({ bootstrap: bootstrapSettings(spec) }), 'nothing'), isInitial: true },
  ]
}

/** Patroni reads them for every new connection. */
function etcdCertificateFiles({ login }: EtcdAccess): MachineFile[] {
  const pair = clientCertificate(login)
  if (pair === undefined) return []
  return [file(PATHS.etcdCertificate, pair.certificate, 'nothing'), file(PATHS.etcdKey, pair.key, 'nothing')]
}

/** As in patroni.yml, but whether there is a certificate is only read at the start: as environment, a change of it restarts Patroni. */
function etcdEnvironment({ login }: EtcdAccess, path: (at: string) => string): Readonly<Record<string, string>> {
  if (clientCertificate(login) === undefined) return {}
  return { PATRONI_ETCD3_CERT: path(PATHS.etcdCertificate), PATRONI_ETCD3_KEY: path(PATHS.etcdKey) }
}

function settingsFiles(spec: PostgresSpec, { keyring }: Site): MachineFile[] {
  const restarts: OnChange = { restart: SETTINGS_SERVICE }
  return [
    file(PATHS.settings, jsonContent(sharedSettings(spec)), restarts),
    file(PATHS.roles, jsonContent(postgresRoles(spec, keyring)), restarts),
    file(PATHS.settingsStep, plain(SETTINGS_STEP), restarts),
  ]
}

function file(path: string, content: Content, onChange: OnChange): MachineFile {
  return { path, owner: POSTGRES_USER, mode: 0o600, content, onChange }
}

function patroniService({ patroni }: PostgresSpec, { name }: PostgresMember, site: Site, etcd: EtcdAccess): Service {
  const path = (at: string) => site.path(name, at)
  return {
    name: PATRONI_SERVICE,
    user: POSTGRES_USER,
    command: [
      ...[PYTHON, path(PATHS.clearUnfinished), path(versionPaths(site.postgresVersion).data)],
      ...[PYTHON, path(PATHS.start), path(PATHS.config)],
    ],
    environment: { ...ENVIRONMENT, ...etcdEnvironment(etcd, path) },
    reloadSignal: 'SIGHUP',
    stopSignal: 'SIGTERM',
    // Patroni's own limit for stopping a primary comes first.
    stopTimeoutMs: Math.max(STOP_TIMEOUT_SECONDS, patroni.masterStopTimeout + 10) * 1000,
  }
}

function settingsService({ name }: PostgresMember, site: Site): Service {
  return {
    name: SETTINGS_SERVICE,
    user: POSTGRES_USER,
    command: [
      PYTHON,
      ...[PATHS.settingsStep, PATHS.patroni, PATHS.settings, PATHS.roles].map((at) => site.path(name, at)),
    ],
    environment: ENVIRONMENT,
    once: true,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5000,
  }
}
