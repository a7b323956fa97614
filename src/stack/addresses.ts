// Which loopback address each machine has with the target `local`: 127.N.KIND.I. A machine keeps what it once had, so that
// adding or removing another one moves none.

import { createHash } from 'node:crypto'
import type { MachineKind } from '../machine/machine.ts'

export interface AddressRequest {
  readonly machine: string
  readonly kind: MachineKind
  /** `local_address` of the stack file. */
  readonly wanted: string | undefined
}

/** The third octet; a kind has the ten from here on. */
const BLOCK: Readonly<Record<MachineKind, number>> = { etcd: 10, dns: 20, postgres: 30, haproxy: 40 }
const BLOCKS = 10
const PER_BLOCK = 250

const FIRST_NETWORK = 16
const NETWORKS = 224

/** N of 127.N.0.0/16, 16 to 239, for a stack that names no network. */
export function networkOf(stack: string): number {
  return FIRST_NETWORK + (createHash('sha256').update(stack).digest().readUInt32BE(0) % NETWORKS)
}

/** Addresses by machine: the wanted one, else the kept one, else the lowest that is free. */
export function allocateAddresses(
  network: number,
  requests: readonly AddressRequest[],
  kept: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const taken = new Set<string>()
  const give = (machine: string, address: string) => {
    found.set(machine, address)
    taken.add(address)
  }
  // Machines that are about to go have theirs until they are gone.
  const names = new Set(requests.map(({ machine }) => machine))
  for (const [machine, address] of Object.entries(kept)) if (!names.has(machine)) taken.add(address)
  for (const { machine, wanted } of requests) if (wanted !== undefined) give(machine, wanted)
  for (const { machine, kind } of requests) {
    const before = Object.hasOwn(kept, machine) ? kept[machine] : undefined
    if (before === undefined || found.has(machine) || taken.has(before) || !isOfKind(before, network, kind)) continue
    give(machine, before)
  }
  const free: Partial<Record<MachineKind, Generator<string>>> = {}
  for (const { machine, kind } of requests) {
    if (found.has(machine)) continue
    const next = (free[kind] ??= addressesOf(network, kind, taken)).next()
    if (!next.done) give(machine, next.value)
  }
  return found
}

/** One that could have been given here: after a change of the network, machines move. */
function isOfKind(address: string, network: number, kind: MachineKind): boolean {
  const [loopback, n, block, host] = address.split('.').map(Number)
  const isInBlock = block >= BLOCK[kind] && block < BLOCK[kind] + BLOCKS
  return loopback === 127 && n === network && isInBlock && host >= 1 && host <= PER_BLOCK
}

function* addressesOf(network: number, kind: MachineKind, taken: ReadonlySet<string>): Generator<string> {
  for (let block = BLOCK[kind]; block < BLOCK[kind] + BLOCKS; block++)
    for (let host = 1; host <= PER_BLOCK; host++) {
      const address = `127.${network}.${block}.${host}`
      if (!taken.has(address)) yield address
    }
}
