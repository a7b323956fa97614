// From the postgres part of a stack file to machines: on each one Patroni, which runs PostgreSQL. When Patroni is killed,
// PostgreSQL stays, and the next Patroni takes it over.

import { type Content, jsonContent, plain } from '../../machine/content.ts'
import type { Machine, MachineFile, OnChange, Service } from '../../machine/machine.ts'
import { type EtcdAccess, etcdOf, type Site } from '../site.ts'
import { memberCertificate } from './certificates.ts'
import { PATHS, POSTGRES_USER, versionPaths } from './paths.ts'
import { patroniConfig } from './patroni-config.ts'
import { PATRONI_START } from './patroni-start.ts'
import { postgresRoles } from './roles.ts'
import { bootstrapSettings, sharedSettings } from './settings.ts'
import { SETTINGS_STEP } from './settings-step.ts'
import { PATRONI_PORT, POSTGRES_PORT, type PostgresMember, type PostgresSpec } from './spec.ts'
import { CLEAR_UNFINISHED } from './unfinished-data.ts'

/** Debian's Patroni does without python3-idna, and then cannot reach an etcd that has TLS. */
const PACKAGES: readonly string[] = ['patroni', 'python3-etcd', 'python3-idna']
const PYTHON = '/usr/bin/python3'
const PATRONI = 'patroni'
const SETTINGS = 'patroni-settings'
const RESTART_NOTE = 'PostgreSQL restarts for parameters that need it, one member at a time'
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
      services: [patroniService(spec, member, site), ...(setsSettings ? [settingsService(member, site)] : [])],
      ports: [
        { port: POSTGRES_PORT, protocol: 'tcp', purpose: 'PostgreSQL' },
        { port: PATRONI_PORT, protocol: 'tcp', purpose: 'Patroni REST API' },
      ],
    }
  })
}

function memberFiles(spec: PostgresSpec, member: PostgresMember, site: Site, etcd: EtcdAccess): MachineFile[] {
  const { certificate, key } = site.keyring.certificate(memberCertificate(spec, member, site))
  const reloads = (path: string, content: Content) => file(path, content, { reload: PATRONI })
  return [
    file(PATHS.clearUnfinished, plain(CLEAR_UNFINISHED), 'nothing'),
    file(PATHS.start, plain(PATRONI_START), { restart: PATRONI }),
    reloads(PATHS.ca, site.keyring.authority),
    reloads(PATHS.etcdCa, etcd.ca),
    reloads(PATHS.certificate, certificate),
    reloads(PATHS.key, key),
    reloads(PATHS.patroni, jsonContent(patroniConfig(spec, member, site, etcd))),
    { ...file(PATHS.bootstrap, jsonContent({ bootstrap: bootstrapSettings(spec) }), 'nothing'), isInitial: true },
  ]
}

function settingsFiles(spec: PostgresSpec, { keyring }: Site): MachineFile[] {
  const restarts: OnChange = { restart: SETTINGS }
  return [
    { ...file(PATHS.settings, jsonContent(sharedSettings(spec)), restarts), note: RESTART_NOTE },
    file(PATHS.roles, jsonContent(postgresRoles(spec, keyring)), restarts),
    file(PATHS.settingsStep, plain(SETTINGS_STEP), restarts),
  ]
}

function file(path: string, content: Content, onChange: OnChange): MachineFile {
  return { path, owner: POSTGRES_USER, mode: 0o600, content, onChange }
}

function patroniService({ patroni }: PostgresSpec, { name }: PostgresMember, site: Site): Service {
  const path = (at: string) => site.path(name, at)
  return {
    name: PATRONI,
    user: POSTGRES_USER,
    command: [
      ...[PYTHON, path(PATHS.clearUnfinished), path(versionPaths(site.postgresVersion).data)],
      ...[PYTHON, path(PATHS.start), path(PATHS.config)],
    ],
    environment: ENVIRONMENT,
    reloadSignal: 'SIGHUP',
    stopSignal: 'SIGTERM',
    // Patroni's own limit for stopping a primary comes first.
    stopTimeoutMs: Math.max(STOP_TIMEOUT_SECONDS, patroni.masterStopTimeout + 10) * 1000,
  }
}

function settingsService({ name }: PostgresMember, site: Site): Service {
  return {
    name: SETTINGS,
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
