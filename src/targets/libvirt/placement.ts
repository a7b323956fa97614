// A machine in its place on a hypervisor: everything that its data leaves open is decided here, and only here, so that
// rendering is a pure function of both. Names, ids and MAC addresses are made from the names of stack and machine: made
// again, they are the same.

import { join } from 'node:path'
import type { Hypervisor } from './hypervisor.ts'

export interface Placement {
  readonly stack: string
  /** Of the stack of that name that this one is; there may be others, made on other hosts. */
  readonly stackId?: string
  /** `STACK-MACHINE`, so that two stacks may have machines of the same name. */
  readonly domain: string
  readonly uuid: string
  /** Of cloud-init: new whenever the machine is made anew, the same as long as it lives. */
  readonly instanceId: string
  readonly kind: Hypervisor['kind']
  /** What libvirt calls it: `kvm`, `qemu` or `lxc`. */
  readonly domainType: 'kvm' | 'qemu' | 'lxc'
  readonly arch: string
  /** In the order of the machine's networks. */
  readonly interfaces: readonly PlacedInterface[]
  /** In the guest: vda and so on, in this order; containers have them as directories. */
  readonly disks: PlacedDisks
}

export interface PlacedInterface {
  readonly attach: { readonly network: string } | { readonly macvtap: string }
  readonly mac: string
  readonly ip: string
  readonly prefixLength: number
  readonly gateway: string | undefined
  readonly dnsServers: readonly string[]
}

export interface PlacedDisks {
  readonly root: PlacedDisk
  readonly data: PlacedDisk | undefined
  /** The cloud-init volume: ISO 9660. */
  readonly seed: PlacedDisk
  /** Our own program, read-only, shared by all machines of a hypervisor; where a service needs it. */
  readonly program: PlacedDisk | undefined
}

export interface PlacedDisk {
  readonly path: string
  readonly format: string
  /** Of one that we make: its pool. Its name there is the last part of its path. */
  readonly pool?: string
  /** Made by us, and removed by us. */
  readonly isOurs: boolean
  /** Of one that we make on another: which one that was. It must never change, for only what differs from it is on this one. */
  readonly base?: PlacedBase
}

export interface PlacedBase {
  readonly path: string
  /** Another one for another content, as far as libvirt can tell. */
  readonly version: string
}

/** Serial number of the data disk: how the guest finds it, whatever order disks come in. */
export const DATA_SERIAL = 'holdfast-data'

/** In the guest: the one that resets it, by that name, whatever others it has. */
export const WATCHDOG = '/dev/holdfast-watchdog'

/**
 * Our own program: a volume with this label (ISO 9660, a CD-ROM drive of its own), which the guest copies to `home` when
 * that does not have it yet. Containers have `volume` mounted. What stands on it is `program/HASH/…`, as program.ts makes it.
 */
export const PROGRAM = { label: 'HOLDFAST', home: '/opt/holdfast', volume: '/run/holdfast-program' } as const

/** What containers have in the place of a volume. */
export function directoryIn(
  { name: pool, path }: { readonly name: string; readonly path: string },
  name: string,
): PlacedDisk {
  return { path: join(path, name.replace(/\.iso$/u, '')), format: 'dir', pool, isOurs: true }
}
