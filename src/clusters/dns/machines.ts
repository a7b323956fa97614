// The name servers of a stack as machines: names.yaml, the zones it names, and how to reach etcd. Nothing that changes
// here takes a server away: zones and certificates are followed, names.yaml and the password are read again on SIGHUP.

import { HoldfastError } from '../../lib/errors.ts'
import { type Content, content, plain } from '../../machine/content.ts'
import type { Machine, MachineFile, OnChange, Service } from '../../machine/machine.ts'
import type { EtcdAccess, MachineSpec, Site } from '../site.ts'
import { type NamesContext, namesYamls, PATHS } from './names-yaml.ts'
import { forwardZone, type OwnZones, reverseZones, withSerial, type ZoneText } from './own-zones.ts'
import type { DnsSpec } from './spec.ts'
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
  const shared = [...zoneFiles(spec, site, context), ...etcdFiles(context.etcd)]
  const yamlOf = namesYamls(spec, site, context)
  return spec.servers.map((server): Machine => {
    const config = file(PATHS.config, plain(yamlOf(server)), { onChange: RELOAD })
    return {
      name: server.name,
      kind: 'dns',
      address: server.address,
      hardware: server.hardware,
      // For people who look: our own program needs nothing.
      packages: ['bind9-dnsutils'],
      directories: [
        { path: '/etc/holdfast', owner: 'root', mode: 0o755 },
        { path: PATHS.zones, owner: 'root', mode: 0o755 },
        { path: PATHS.reverse, owner: 'root', mode: 0o755 },
        { path: PATHS.state, owner: USER, mode: 0o700, isData: true },
      ],
      files: [config, ...shared],
      services: [service(spec, server, site)],
      ports: [
        { port: spec.port, protocol: 'udp', purpose: 'DNS' },
        { port: spec.port, protocol: 'tcp', purpose: 'DNS' },
        { port: spec.healthPort, protocol: 'tcp', purpose: 'health' },
        { port: spec.metricsPort, protocol: 'tcp', purpose: 'metrics' },
      ],
    }
  })
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

/** The server watches them. */
function zoneFiles({ zones, servers }: DnsSpec, { domain }: Site, context: DnsContext): MachineFile[] {
  const { machines, patroni, etcd, existing = [] } = context
  const own: OwnZones = {
    domain,
    machines,
    servers: servers.map(({ name }) => name),
    delegated: etcd === undefined ? [] : patroni.map(({ scope }) => scope),
  }
  const generated = (path: string, text: ZoneText) => {
    const texts = existing.flatMap((files) => files.get(path)?.text ?? [])
    return file(path, plain(withSerial(text, texts)))
  }
  const given = new Set(zones.map(({ name }) => zoneOrigin(name)))
  return [
    generated(PATHS.zone, forwardZone(own)),
    ...zones.map(({ name, text }) => file(`${PATHS.zones}/${name}`, plain(text))),
    ...[...reverseZones(own)]
      .filter(([origin]) => !given.has(origin))
      .map(([origin, text]) => generated(`${PATHS.reverse}/${origin}`, text)),
  ]
}

function etcdFiles(etcd: EtcdAccess | undefined): MachineFile[] {
  if (etcd === undefined) return []
  const { ca, login } = etcd
  const secret = { owner: USER, mode: 0o600 }
  return [
    file(PATHS.ca, ca, { onChange: RELOAD }),
    ...('username' in login
      ? [file(PATHS.password, content`${login.password}\n`, { ...secret, onChange: RELOAD })]
      : [file(PATHS.certificate, login.certificate), file(PATHS.key, login.key, secret)]),
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
      `Cannot serve zone file "${file.name}": ${domain} is the stack's own zone, made from its machines; another "domain" for the stack, or another zone for these names is wanted`,
    )
  for (const { scope } of patroni)
    if (machines.some(({ name }) => name.toLowerCase() === scope.toLowerCase()))
      throw new HoldfastError(
        'NameTaken',
        `Cannot make the zone "${scope}.${domain}": a machine has the name "${scope}"; another scope is wanted`,
      )
}
