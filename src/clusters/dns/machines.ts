// The name servers of a stack as machines: names.yaml, the zones it names, and how to reach etcd; or CoreDNS with the same
// zones. Nothing that changes here takes a server away: zones and certificates are followed, names.yaml and the password
// are read again on SIGHUP.

import { HoldfastError } from '../../lib/errors.ts'
import { type Content, content, plain } from '../../machine/content.ts'
import type { Machine, MachineFile, OnChange, Service } from '../../machine/machine.ts'
import type { HostPart } from '../host/host-part.ts'
import { clientCertificate, type EtcdAccess, etcdOf, type MachineSpec, type Site } from '../site.ts'
import { COREDNS_ZONES, corednsPart } from './coredns.ts'
import { type NamesContext, namesYamls, PATHS } from './names-yaml.ts'
import { forwardZone, type OwnZones, reverseZones, withSerial, type ZoneText } from './own-zones.ts'
import type { DnsServer, DnsSpec, ZoneFile } from './spec.ts'
import { zoneOrigin } from './zone-origin.ts'

export interface DnsContext extends NamesContext {
  /** Every machine of the stack. */
  readonly machines: readonly { readonly name: string; readonly address: string }[]
  /** Files of name servers as they are now, by path: serials go on from there. */
  readonly existing?: readonly ReadonlyMap<string, { readonly text: string }>[]
}

const SERVICE = 'dns'
const USER = 'holdfast'
const STOP_TIMEOUT_MS = 5000
const RELOAD: OnChange = { reload: SERVICE }

export function dnsMachines(spec: DnsSpec, site: Site, context: DnsContext): Machine[] {
  refuseTakenNames(spec, site, context)
  const partOf = spec.engine === 'coredns' ? corednsParts(spec, site, context) : ownParts(spec, site, context)
  return spec.servers.map((server): Machine => {
    const { directories = [], files = [], services = [] } = partOf(server)
    return {
      name: server.name,
      kind: 'dns',
      address: server.address,
      hardware: server.hardware,
      // For people who look: our own program needs nothing.
      packages: ['bind9-dnsutils'],
      ...{ directories, files, services },
      ports: [
        { port: spec.port, protocol: 'udp', purpose: 'DNS' },
        { port: spec.port, protocol: 'tcp', purpose: 'DNS' },
        { port: spec.healthPort, protocol: 'tcp', purpose: 'health' },
        { port: spec.metricsPort, protocol: 'tcp', purpose: 'metrics' },
      ],
    }
  })
}

type PartOf = (server: DnsServer) => HostPart

function ownParts(spec: DnsSpec, site: Site, context: DnsContext): PartOf {
  const zones = zonesOf(spec, site, context)
  const shared = zoneFiles(zones, context, {
    stack: () => PATHS.zone,
    user: ({ name }) => `${PATHS.zones}/${name}`,
    reverse: (origin) => `${PATHS.reverse}/${origin}`,
  })
  const yamlOf = namesYamls(spec, site, context)
  const etcdFilesOf = etcdFilesByServer(context.etcd)
  return (server) => ({
    directories: [
      { path: '/etc/holdfast', owner: 'root', mode: 0o755 },
      { path: PATHS.zones, owner: 'root', mode: 0o755 },
      { path: PATHS.reverse, owner: 'root', mode: 0o755 },
      { path: PATHS.state, owner: USER, mode: 0o700, isData: true },
    ],
    files: [file(PATHS.config, plain(yamlOf(server)), { onChange: RELOAD }), ...shared, ...etcdFilesOf(server)],
    services: [service(spec, server, site)],
  })
}

/** The origin of a zone is the name of its file, and nobody delegates to zones that only our own server has. */
function corednsParts(spec: DnsSpec, site: Site, context: DnsContext): PartOf {
  const zones = zonesOf(spec, site, { ...context, patroni: [] })
  const files = zoneFiles(zones, context, {
    stack: (origin) => `${COREDNS_ZONES.stack}/${origin}`,
    user: ({ name }) => `${COREDNS_ZONES.stack}/${zoneOrigin(name)}`,
    reverse: (origin) => `${COREDNS_ZONES.reverse}/${origin}`,
  })
  return (server) => {
    const part = corednsPart(spec, server, site, { user: USER, service: SERVICE, etcd: context.etcd })
    return { ...part, files: [...(part.files ?? []), ...files] }
  }
}

function service({ port, healthPort, metricsPort }: DnsSpec, server: MachineSpec, site: Site): Service {
  return {
    name: SERVICE,
    user: USER,
    command: [...site.program, 'dns', '--config', site.path(server.name, PATHS.config)],
    environment: {},
    reloadSignal: 'SIGHUP',
    stopSignal: 'SIGTERM',
    stopTimeoutMs: STOP_TIMEOUT_MS,
    bindsLowPorts: Math.min(port, healthPort, metricsPort) < 1024,
  }
}

interface Zones {
  readonly given: readonly ZoneFile[]
  readonly own: OwnZones
}

function zonesOf({ zones, servers }: DnsSpec, { domain }: Site, { machines, patroni, etcd }: DnsContext): Zones {
  const delegated = etcd === undefined ? [] : patroni.map(({ scope }) => scope)
  return { given: zones, own: { domain, machines, servers: servers.map(({ name }) => name), delegated } }
}

/** Where the files of zones are. */
interface ZonePaths {
  stack(origin: string): string
  user(zone: ZoneFile): string
  reverse(origin: string): string
}

/** The server watches them. */
function zoneFiles({ given, own }: Zones, { existing = [] }: DnsContext, paths: ZonePaths): MachineFile[] {
  const generated = (path: string, text: ZoneText) => {
    const texts = existing.flatMap((files) => files.get(path)?.text ?? [])
    return file(path, plain(withSerial(text, texts)))
  }
  const origins = new Set(given.map(({ name }) => zoneOrigin(name)))
  return [
    generated(paths.stack(own.domain), forwardZone(own)),
    ...given.map((zone) => file(paths.user(zone), plain(zone.text))),
    ...[...reverseZones(own)]
      .filter(([origin]) => !origins.has(origin))
      .map(([origin, text]) => generated(paths.reverse(origin), text)),
  ]
}

/** Those that servers share are written once. */
function etcdFilesByServer(etcd: EtcdAccess | undefined): (server: DnsServer) => MachineFile[] {
  if (etcd === undefined) return () => []
  const shared = etcdFiles(etcd)
  return (server) => (server.etcdLogin === undefined ? shared : etcdFiles(etcdOf(etcd, server)))
}

function etcdFiles({ ca, login }: EtcdAccess): MachineFile[] {
  const secret = { owner: USER, mode: 0o600 }
  const pair = clientCertificate(login)
  return [
    file(PATHS.ca, ca, { onChange: RELOAD }),
    ...('username' in login
      ? [file(PATHS.password, content`${login.password}\n`, { ...secret, onChange: RELOAD })]
      : []),
    ...(pair === undefined ? [] : [file(PATHS.certificate, pair.certificate), file(PATHS.key, pair.key, secret)]),
  ]
}

function file(path: string, content: Content, options: Partial<MachineFile> = {}): MachineFile {
  return { path, owner: 'root', mode: 0o644, onChange: 'nothing', ...options, content }
}

/** A zone has one text, and a name that is a zone has no address. */
function refuseTakenNames({ zones }: DnsSpec, { domain }: Site, { machines, patroni }: DnsContext): void {
  const file = zones.find(({ name }) => zoneOrigin(name) === domain.toLowerCase())
  if (file !== undefined)
    throw new HoldfastError(
      'NameTaken',
      `Cannot serve zone file "${file.name}": ${domain} is the stack's own zone, made from its machines; expected another "domain" for the stack, or another zone for these names`,
    )
  for (const { scope } of patroni)
    if (machines.some(({ name }) => name.toLowerCase() === scope.toLowerCase()))
      throw new HoldfastError(
        'NameTaken',
        `Cannot make the zone "${scope}.${domain}": a machine has the name "${scope}"; expected another scope`,
      )
}
