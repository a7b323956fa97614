// The machines of the scenario as text of a stack file: three of etcd, a name server and two of PostgreSQL.

import type { Settings } from './libvirt-scenario.ts'

export const SUBNET = '10.77.0'
export const MACVTAP_SUBNET = '10.78.0'
export const NETWORK = { name: 'machines', subnet: SUBNET, forward: 'open' } as const
export const POOL = 'images'

export const ETCD = ['etcd-1', 'etcd-2', 'etcd-3']
export const DNS = ['dns-1']
export const POSTGRES = ['postgres-1', 'postgres-2']
/** As `status` lists them. */
export const MACHINES = [...ETCD, ...DNS, ...POSTGRES]

/** `settings`: of all machines, a line each. `member`: what a machine has of its own, in braces or beside its name. */
export function stackFile(
  settings: readonly string[],
  member: (machine: string) => string,
  { spaceQuota, workMem }: Settings,
): string {
  const list = (names: readonly string[]) => names.map((name) => `    - { name: ${name}, ${member(name)} }`)
  return [
    'domain: lab.test',
    ...settings,
    'install_dependencies: false',
    'etcd:',
    ...(spaceQuota === undefined ? [] : [`  space_quota: ${spaceQuota}`]),
    '  members:',
    ...list(ETCD),
    'dns:',
    '  servers:',
    ...list(DNS),
    'postgres:',
    ...(workMem === undefined ? [] : [`  params: { work_mem: ${workMem} }`]),
    '  members:',
    ...list(POSTGRES),
  ].join('\n')
}

/** The network of a machine on the libvirt network: `.11` and so on, in order. */
export function onNetwork(machine: string): string {
  return `libvirt_network: { network_name: ${NETWORK.name}, ip: ${SUBNET}.${11 + MACHINES.indexOf(machine)} }`
}
