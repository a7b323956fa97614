// All machines of a stack file: their names, their addresses, and that no two share one.

import { quote } from '../../document/values.ts'
import type { Path } from '../../document/located.ts'
import type { MachineSpec } from '../../clusters/site.ts'
import type { Hardware } from '../../machine/hardware.ts'
import type { MachineKind } from '../../machine/machine.ts'
import type { MachineDocument, SettingsDocument } from '../../machine/schema.ts'
import { allocateAddresses, networkOf } from '../addresses.ts'
import type { StackDocument } from '../schema.ts'
import { hardwareOf, type MachineEntry } from './hardware.ts'
import { networksByMachine } from './machine-networks.ts'
import type { StackResolver } from './resolver.ts'

/** An entry of a list of machines, or one of a number of them. */
export interface ClusterEntry<T extends MachineDocument> extends MachineEntry {
  readonly kind: MachineKind
  readonly document: (T & SettingsDocument) | undefined
}

interface Cluster<T> {
  readonly kind: MachineKind
  /** Where their number or their list stands. */
  readonly path: Path
  readonly machines: number | readonly T[]
  /** Their cluster and what is above it, from near to far. */
  readonly settings: MachineEntry['settings']
}

export function entriesOf<T extends MachineDocument & SettingsDocument>(cluster: Cluster<T>): ClusterEntry<T>[] {
  const { kind, path, machines, settings } = cluster
  if (typeof machines === 'number')
    return Array.from({ length: machines }, (_, index) => ({
      ...{ kind, path, settings, document: undefined },
      name: `${kind}-${index + 1}`,
    }))
  return machines.map((document, index) => {
    const at = [...path, index]
    return { kind, path: at, name: document.name, document, settings: [{ path: at, values: document }, ...settings] }
  })
}

/** By name. Problems are told of what two machines share. */
export function specsByName(
  { name: stack, network, target }: Pick<StackDocument, 'name' | 'network' | 'target'>,
  entries: readonly ClusterEntry<MachineDocument>[],
  kept: Readonly<Record<string, string>>,
  resolver: StackResolver,
): ReadonlyMap<string, MachineSpec> {
  const hardwares = new Map(entries.map((entry) => [entry.name, hardwareOf(entry, resolver)]))
  const own = new Map([...hardwares].map(([name, { networks }]) => [name, networks]))
  const networks = target === 'local' ? own : networksByMachine(entries, own, kept, resolver)
  const addresses =
    target === 'local'
      ? localAddresses(network ?? networkOf(stack), entries, kept)
      : new Map([...networks].map(([name, [first]]) => [name, first?.ip ?? '']))
  const taken = new Taken(resolver)
  const specs = new Map<string, MachineSpec>()
  for (const entry of entries) {
    const { name, path, document } = entry
    taken.name(name, document === undefined ? path : [...path, 'name'])
    if (target === 'local' && document?.local_address !== undefined)
      taken.address(document.local_address, name, [...path, 'local_address'], 'address')
    const hardware = { ...(hardwares.get(name) as Hardware), networks: networks.get(name) ?? [] }
    for (const { ip, mac } of hardware.networks) {
      if (ip !== undefined) taken.address(ip, name, path, 'address')
      if (mac !== undefined) taken.address(mac, name, path, 'MAC address')
    }
    const moreAddresses = target === 'local' ? [] : hardware.networks.slice(1).flatMap(({ ip }) => ip ?? [])
    specs.set(name, { name, address: addresses.get(name) ?? '', moreAddresses, hardware })
  }
  return specs
}

function localAddresses(
  network: number,
  entries: readonly ClusterEntry<MachineDocument>[],
  kept: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const requests = entries.map(({ name, kind, document }) => ({ machine: name, kind, wanted: document?.local_address }))
  return allocateAddresses(network, requests, kept)
}

/** What belongs to one machine only. */
class Taken {
  readonly #names = new Set<string>()
  readonly #owners = new Map<string, string>()
  readonly #resolver: StackResolver

  constructor(resolver: StackResolver) {
    this.#resolver = resolver
  }

  name(name: string, path: Path): void {
    if (this.#names.has(name))
      this.#resolver.problem(path, `${quote(name)} is the name of another machine, too; expected one for each`)
    this.#names.add(name)
  }

  address(address: string, machine: string, path: Path, what: string): void {
    const owner = this.#owners.get(address)
    if (owner !== undefined)
      this.#resolver.problem(path, `${address} is the ${what} of ${quote(owner)}, too; expected one for each machine`)
    this.#owners.set(address, machine)
  }
}
