// HAProxy in front of a PostgreSQL cluster: one port that leads to the primary and one that leads to replicas, for
// clients that cannot follow names. TLS goes through it untouched, from the client to PostgreSQL. It may ask Patroni who
// leads, and nothing else.

import { type Content, content, plain } from '../../machine/content.ts'
import type { Machine, MachineFile } from '../../machine/machine.ts'
import { clientCertificate } from '../postgres/certificates.ts'
import type { HaproxySpec, PostgresSpec } from '../postgres/spec.ts'
import type { MachineSpec, Site } from '../site.ts'
import { haproxyConfig } from './config.ts'

const SERVICE = 'haproxy'
const USER = 'haproxy'
const DIRECTORY = '/etc/haproxy'
const PATHS = {
  config: `${DIRECTORY}/haproxy.cfg`,
  ca: `${DIRECTORY}/ca.pem`,
  /** Certificate and key in one, as HAProxy wants it. */
  client: `${DIRECTORY}/client.pem`,
}

export function haproxyMachines(postgres: PostgresSpec, haproxy: HaproxySpec, site: Site): Machine[] {
  return haproxy.servers.map((server) => ({
    name: server.name,
    kind: 'haproxy',
    address: server.address,
    hardware: server.hardware,
    packages: ['haproxy'],
    directories: [{ path: DIRECTORY, owner: USER, mode: 0o700 }],
    files: files(postgres, haproxy, server, site),
    services: [
      {
        name: SERVICE,
        user: USER,
        // With a master process, which reads the files again while connections go on.
        command: ['/usr/sbin/haproxy', '-W', '-db', '-f', site.path(server.name, PATHS.config)],
        environment: {},
        reloadSignal: 'SIGHUP',
        stopSignal: 'SIGTERM',
        stopTimeoutMs: 10_000,
      },
    ],
    ports: [
      { port: haproxy.readWritePort, protocol: 'tcp', purpose: 'PostgreSQL, read-write' },
      { port: haproxy.readOnlyPort, protocol: 'tcp', purpose: 'PostgreSQL, read-only' },
    ],
  }))
}

function files(postgres: PostgresSpec, haproxy: HaproxySpec, server: MachineSpec, site: Site): MachineFile[] {
  const { certificate, key } = site.keyring.certificate(clientCertificate(postgres, `${server.name}/client`))
  const config = haproxyConfig({
    address: server.address,
    readWritePort: haproxy.readWritePort,
    readOnlyPort: haproxy.readOnlyPort,
    members: postgres.members.map(({ name, address }) => ({ name, address, host: `${name}.${site.domain}` })),
    caFile: site.path(server.name, PATHS.ca),
    clientFile: site.path(server.name, PATHS.client),
  })
  const file = (path: string, text: Content): MachineFile => ({
    path,
    owner: USER,
    mode: 0o600,
    content: text,
    onChange: { reload: SERVICE },
  })
  return [
    file(PATHS.ca, site.keyring.authority),
    file(PATHS.client, content`${certificate}${key}`),
    file(PATHS.config, plain(config)),
  ]
}
