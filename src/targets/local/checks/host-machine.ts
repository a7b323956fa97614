// What the checks have to know of a machine, and what a machine of each kind takes from the host. The amounts are rough and on
// the large side: measured with a machine under some load, not idle.

import type { Machine, MachineKind, Port, Service } from '../../../machine/machine.ts'
import { ANY_POSTGRES } from '../packages.ts'
import { OWN_USER } from '../system-user.ts'

export interface HostMachine extends Pick<Machine, 'name' | 'kind' | 'address' | 'packages' | 'ports'> {
  readonly services: readonly Pick<Service, 'user'>[]
}

interface Takes {
  readonly memoryMib: number
  readonly diskMib: number
}

export const TAKES: Readonly<Record<MachineKind, Takes>> = {
  etcd: { memoryMib: 64, diskMib: 200 },
  dns: { memoryMib: 160, diskMib: 20 },
  postgres: { memoryMib: 220, diskMib: 400 },
  haproxy: { memoryMib: 40, diskMib: 5 },
}

/** The supervisor, and the copy of our program that services run. */
export const STACK_TAKES: Takes = { memoryMib: 60, diskMib: 150 }

/** Stands for a stack where none is given: a lab with every kind of machine. */
export const SAMPLE_MACHINES: readonly HostMachine[] = [
  ...sample('etcd', 3, 10, ['etcd-server', 'etcd-client'], 'etcd', [
    { port: 2379, protocol: 'tcp', purpose: 'etcd clients' },
    { port: 2380, protocol: 'tcp', purpose: 'etcd peers' },
  ]),
  ...sample('dns', 2, 20, ['bind9-dnsutils'], OWN_USER, [
    { port: 53, protocol: 'udp', purpose: 'DNS' },
    { port: 53, protocol: 'tcp', purpose: 'DNS' },
    { port: 8080, protocol: 'tcp', purpose: 'health' },
    { port: 9153, protocol: 'tcp', purpose: 'metrics' },
  ]),
  ...sample('postgres', 3, 30, ['patroni', ANY_POSTGRES, 'python3-etcd', 'python3-idna'], 'postgres', [
    { port: 5432, protocol: 'tcp', purpose: 'PostgreSQL' },
    { port: 8008, protocol: 'tcp', purpose: 'Patroni' },
  ]),
  ...sample('haproxy', 1, 40, ['haproxy'], 'haproxy', [
    { port: 5000, protocol: 'tcp', purpose: 'read-write' },
    { port: 5001, protocol: 'tcp', purpose: 'read-only' },
  ]),
]

export function packagesOf(machines: readonly HostMachine[]): readonly string[] {
  return [...new Set(machines.flatMap(({ packages }) => packages))].toSorted()
}

/** `3 machines` */
export function countOf(machines: readonly HostMachine[]): string {
  return `${machines.length} ${machines.length === 1 ? 'machine' : 'machines'}`
}

export function usersOf(machines: readonly HostMachine[]): readonly string[] {
  return [...new Set(machines.flatMap(({ services }) => services.map(({ user }) => user)))].toSorted()
}

function sample(
  kind: MachineKind,
  count: number,
  network: number,
  packages: readonly string[],
  user: string,
  ports: readonly Port[],
): readonly HostMachine[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${kind}-${index + 1}`,
    kind,
    // No stack is given 127.250.0.0/16.
    address: `127.250.${network}.${index + 1}`,
    packages,
    ports,
    services: [{ user }],
  }))
}
