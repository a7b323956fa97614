// chrony, with the time sources of the stack file instead of those of the image.

import { plain } from '../../machine/content.ts'
import type { Chrony, TimeSource } from '../../machine/hardware.ts'
import type { Machine } from '../../machine/machine.ts'
import type { Site } from '../site.ts'
import { hostFile, type HostPart } from './host-part.ts'

const SERVICE = 'chrony'
const CONFIG = '/etc/chrony/chrony.conf'

export function chronyPart(chrony: Chrony, { name, hardware }: Machine, site: Site): HostPart {
  // A container has the clock of its host, which it may only compare.
  const clock = hardware.hypervisor.startsWith('lxc') ? ['-x'] : []
  return {
    packages: ['chrony'],
    directories: [{ path: '/etc/chrony', owner: 'root', mode: 0o755 }],
    files: [hostFile(CONFIG, plain(chronyConfig(chrony)), { onChange: { restart: SERVICE } })],
    services: [
      {
        name: SERVICE,
        // It becomes _chrony by itself, once it may set the clock.
        user: 'root',
        command: ['/usr/sbin/chronyd', '-d', ...clock, '-f', site.path(name, CONFIG)],
        environment: {},
        stopSignal: 'SIGTERM',
        stopTimeoutMs: 5000,
      },
    ],
  }
}

function chronyConfig({ servers, pools, makestep }: Chrony): string {
  return [
    ...servers.map((source) => sourceLine('server', source)),
    ...pools.map((source) => sourceLine('pool', source)),
    ...(makestep === undefined ? [] : [`makestep ${makestep.threshold} ${makestep.limit}`]),
    'rtcsync',
    'driftfile /var/lib/chrony/chrony.drift',
    'logdir /var/log/chrony',
    // Of sources that have the option `key`.
    'keyfile /etc/chrony/chrony.keys',
    '',
  ].join('\n')
}

function sourceLine(directive: 'server' | 'pool', { url, options }: TimeSource): string {
  return [directive, url, ...options].join(' ')
}
