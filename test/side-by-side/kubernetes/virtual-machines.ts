// VirtualMachineInstances for both programs, and what their zone files say.

import type { TestObject } from './objects.ts'

interface Interface {
  readonly name?: string
  readonly addresses: readonly string[]
}

/** Its first network is that of the pod, `default`. */
export function machine(name: string, namespace: string, interfaces: readonly Interface[]): TestObject {
  const networks = interfaces.map(({ name: network = 'nameless' }) =>
    network === 'default'
      ? { name: network, pod: {} }
      : { name: network, multus: { networkName: `${network}-definition` } },
  )
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name, namespace },
    spec: { domain: { devices: {} }, networks },
    status: {
      interfaces: interfaces.map(({ name: network, addresses }) => ({
        ...(network !== undefined && { name: network }),
        ...(addresses.length > 0 && { ipAddress: addresses[0], ipAddresses: addresses }),
      })),
    },
  }
}

/** IPv4 only, an address for each interface: all that KubeSecondaryDNS knows. */
export const MACHINES: readonly TestObject[] = [
  machine('one', 'vms', [{ name: 'nic1', addresses: ['10.10.0.5'] }]),
  machine('many', 'vms', [
    { name: 'default', addresses: ['10.244.0.9'] },
    { name: 'nic2', addresses: ['10.10.0.8'] },
    { name: 'nic10', addresses: ['10.10.0.7'] },
    { name: 'nic1', addresses: ['10.10.0.6'] },
  ]),
  machine('nameless', 'vms', [{ addresses: ['10.10.0.20'] }, { name: 'nic1', addresses: ['10.10.0.21'] }]),
  machine('one', 'other', [{ name: 'blue', addresses: ['10.11.0.5'] }]),
  machine('starting', 'other', [{ name: 'nic1', addresses: [] }]),
  machine('pod-only', 'other', [{ name: 'default', addresses: ['10.244.0.10'] }]),
]

/** Lines in no particular order, without the serial. */
export function recordsOf(zone: string): string[] {
  return zone
    .replace(/\(\d+ /u, '(SERIAL ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .toSorted()
}

export function serialOf(zone: string): number {
  return Number(/\((\d+) /u.exec(zone)?.[1])
}
