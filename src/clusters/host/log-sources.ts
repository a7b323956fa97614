// Whose logs are sent, under which tag. A service is a unit of systemd, whose journal the agents read.

import { Secret } from '../../lib/secret.ts'
import { content } from '../../machine/content.ts'
import type { LogForwarding } from '../../machine/hardware.ts'
import type { Machine, MachineFile } from '../../machine/machine.ts'
import { unitName } from '../../machine/unit-name.ts'
import { hostFile } from './host-part.ts'

export interface LogSource {
  readonly service: string
  readonly unit: string
  readonly tag: string
}

/** By the variable of the stack file, without `_tag`, which is the tag, too, unless another is given. */
const SERVICES: Readonly<Record<string, string>> = {
  etcd: 'etcd',
  coredns: 'dns',
  coredns_updater: 'zonefiles',
  patroni: 'patroni',
  haproxy: 'haproxy',
  node_exporter: 'node-exporter',
}

export function logSources({ tags }: LogForwarding, { services }: Machine): LogSource[] {
  const names = new Set(services.map(({ name }) => name))
  return Object.entries(SERVICES)
    .filter(([, service]) => names.has(service))
    .map(([variable, service]) => ({ service, unit: unitName(service), tag: tags[variable] ?? variable }))
}

export type Forward = NonNullable<LogForwarding['forward']>

/** The name that configurations have for the shared key: its value is only in the environment of the agent. */
export const SHARED_KEY = 'HOLDFAST_SHARED_KEY'

/** In double quotes, as systemd reads it. */
export function sharedKeyFile(path: string, { sharedKey }: Forward, service: string): MachineFile {
  const quoted = new Secret(sharedKey.reveal().replaceAll(/["\\$`]/gu, String.raw`\$&`))
  return hostFile(path, content`${SHARED_KEY}="${quoted}"\n`, { mode: 0o600, onChange: { restart: service } })
}
