// fluentd, of its vendor's fluent-package (version 5 or later, which has the plugin for systemd) or already in the image.

import { isIP } from 'node:net'
import { plain } from '../../machine/content.ts'
import type { LogForwarding } from '../../machine/hardware.ts'
import type { Machine, MachineFile } from '../../machine/machine.ts'
import type { Site } from '../site.ts'
import { hostFile, type HostPart } from './host-part.ts'
import { type Forward, logSources, type LogSource, SHARED_KEY, sharedKeyFile } from './log-sources.ts'

/** Where fluent-package has it. */
export const FLUENTD = '/opt/fluent/bin/fluentd'

const SERVICE = 'fluentd'
const HOME = '/etc/fluentd'
const PATHS = {
  config: `${HOME}/fluentd.conf`,
  ca: `${HOME}/forward_ca.crt`,
  environment: `${HOME}/forward.env`,
  /** How far the journal was read, by unit. */
  state: '/var/lib/fluentd',
}

const DEFAULT_BUFFER = `  <buffer tag>
    @type memory
    flush_mode interval
    flush_interval 10s
    flush_at_shutdown true
    retry_type exponential_backoff
    retry_max_interval 30s
    retry_forever true
  </buffer>`

/** fluentd has no configuration from etcd: the stack file names the receiver. */
export function fluentdPart(logs: LogForwarding, machine: Machine, site: Site): HostPart {
  const { packageSource, forward } = logs
  if (forward === undefined) return {}
  const path = (inside: string) => site.path(machine.name, inside)
  return {
    ...(packageSource !== undefined && { packages: ['fluent-package'], packageSources: [packageSource] }),
    directories: [
      { path: HOME, owner: 'root', mode: 0o755 },
      { path: PATHS.state, owner: 'root', mode: 0o700 },
    ],
    files: files(forward, logs.buffer ?? DEFAULT_BUFFER, logSources(logs, machine), path),
    services: [
      {
        name: SERVICE,
        // The journal is not for everybody.
        user: 'root',
        command: [FLUENTD, '--config', path(PATHS.config)],
        environment: {},
        environmentFiles: [PATHS.environment],
        stopSignal: 'SIGTERM',
        // What is in its buffer is sent first.
        stopTimeoutMs: 30_000,
      },
    ],
  }
}

function files(
  forward: Forward,
  buffer: string,
  sources: readonly LogSource[],
  path: (inside: string) => string,
): MachineFile[] {
  const onChange = { restart: SERVICE }
  const config = [
    '<system>\n  log_level info\n</system>\n',
    // Its own logs are in the journal; sent on, each failure to send would make more of them.
    '<label @FLUENT_LOG>\n  <match **>\n    @type null\n  </match>\n</label>\n',
    ...sources.map((source) => journalSource(source, path)),
    forwardMatch(forward, buffer, path),
  ].join('\n')
  return [
    hostFile(PATHS.config, plain(config), { onChange }),
    hostFile(PATHS.ca, plain(forward.caCert), { onChange }),
    sharedKeyFile(PATHS.environment, forward, SERVICE),
  ]
}

function journalSource({ service, unit, tag }: LogSource, path: (inside: string) => string): string {
  return `<source>
  @type systemd
  tag ${tag}
  path /var/log/journal
  matches ${JSON.stringify([{ _SYSTEMD_UNIT: unit }])}
  read_from_head true
  <storage>
    @type local
    persistent true
    path ${path(`${PATHS.state}/${service}.json`)}
  </storage>
</source>
`
}

/** fluentd cannot compare addresses with a certificate: of a receiver that is an address only the authority is checked. */
function forwardMatch({ domain, port, hostname }: Forward, buffer: string, path: (inside: string) => string): string {
  return `<match **>
  @type forward
  transport tls
  tls_cert_path ${path(PATHS.ca)}
  tls_verify_hostname ${isIP(domain) === 0}
  tls_insecure_mode false
  <security>
    self_hostname ${hostname}
    shared_key "#{ENV['${SHARED_KEY}']}"
  </security>
  <server>
    host ${domain}
    port ${port}
  </server>
${buffer.trimEnd()}
</match>
`
}
