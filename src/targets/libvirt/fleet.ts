// The hypervisors of a stack as one: which machines of the stack there are on all of them. A hypervisor that does not answer is not
// an empty one: whoever makes what is missing must not go on without it, whoever only looks or takes away may.

import { HoldfastError } from '../../lib/errors.ts'
import type { Hardware } from '../../machine/hardware.ts'
import type { ReadHow, Unread } from '../target.ts'
import type { Hypervisor } from './hypervisor.ts'
import { domainName } from './identity.ts'
import { findMigrated, instancesOf, type Migrated, sortCopies } from './machine-copies.ts'
import { Memory } from './memory.ts'
import { isNamed, type Presence, type PresentMachine, readPresence } from './present-machine.ts'

export interface FleetOptions {
  readonly stack: string
  /** Tells it from another stack of the same name that was made elsewhere, whose machines are not ours; without it, all are. */
  readonly stackId?: string
  /** Machines of such another one are taken for ours. */
  readonly takesForeign?: boolean
  /** Where machines of the stack are, may be, or were. */
  readonly hypervisors: readonly Hypervisor[]
  /** Addresses of those that machines are to be on; all of them unless given. The others may be gone for good. */
  readonly needed?: ReadonlySet<string>
  /** Of machines that are to be, by name. */
  readonly hardware: ReadonlyMap<string, Hardware>
  /** By machine: address of the hypervisor that it was on when all was well the last time. */
  readonly homes?: ReadonlyMap<string, string>
  /** Told once of what is gone on without. */
  readonly onUnread: (unread: Unread) => void
  readonly signal: AbortSignal
}

/** What one hypervisor has, or why that is not known. */
interface Sight {
  readonly machines: readonly PresentMachine[]
  readonly unread: readonly Missing[]
}

interface Missing extends Unread {
  readonly isNeeded: boolean
  /** Where only one of them is missing: its name. */
  readonly domain?: string
}

/** Whoever waits asks several times a second, and a connection may break while he does. */
const MEMORY = { forMs: 1000, patienceMs: 60_000 } as const

const ELSEWHERE_HINT =
  'what it knows of itself is where it was made, below the directory of --state: work from there, bring that directory here, or give this stack another name'

export class Fleet {
  readonly #options: FleetOptions
  readonly #recent = new Memory<Presence>(MEMORY)
  /** By machine: the address where it was seen last. */
  readonly #seen = new Map<string, string>()
  /** By machine. */
  #leftovers: ReadonlyMap<string, readonly PresentMachine[]> = new Map()
  #migrated: readonly Migrated[] = []
  readonly #told = new Set<string>()
  #unread: readonly Missing[] = []

  constructor(options: FleetOptions) {
    this.#options = options
  }

  /** All of them, those of which only data were kept, too. */
  machines(how: ReadHow = {}): Promise<PresentMachine[]> {
    return this.#readAll(how, (hypervisor) => this.#read(hypervisor))
  }

  /** For whoever is going to change them, before anything is started or stopped. */
  async changeableMachines(how: ReadHow = {}): Promise<PresentMachine[]> {
    const found = await this.machines(how)
    if (how.isTolerant !== true) for (const migrated of this.#migrated) throw migratedError(migrated)
    return found
  }

  /** As they were a moment ago. */
  recentMachines(how: ReadHow = {}): Promise<PresentMachine[]> {
    return this.#readAll(how, (hypervisor) => this.#recent.recall(hypervisor.uri, () => this.#read(hypervisor)))
  }

  forgetRecent(): void {
    for (const { uri } of this.#options.hypervisors) this.#recent.forget(uri)
  }

  /** Not one of which only data were kept. Where it is to be, or was seen last, is asked first. */
  async find(machine: string): Promise<PresentMachine | undefined> {
    const isIt = (present: PresentMachine) => isNamed(machine)(present) && present.record.isKept !== true
    const { hypervisors, hardware } = this.#options
    const uri = hardware.get(machine)?.hypervisor ?? this.#seen.get(machine)
    const home = hypervisors.find((hypervisor) => hypervisor.uri === uri)
    const atHome = home === undefined ? undefined : (await this.#read(home)).machines.find(isIt)
    return atHome ?? (await this.everywhere(machine)).find(isIt)
  }

  /** Rejects when it is there and its record cannot be read. */
  async findOn(hypervisor: Hypervisor, machine: string): Promise<PresentMachine | undefined> {
    const { machines, damaged } = await this.#read(hypervisor)
    const unreadable = damaged.find(({ domain }) => domain.name === domainName(this.#options.stack, machine))
    if (unreadable !== undefined) throw unreadable.error
    return machines.find(isNamed(machine))
  }

  /** Copies of a machine that are of no use any more, as they were when all machines were asked for the last time. */
  leftovers(machine: string): readonly PresentMachine[] {
    return this.#leftovers.get(machine) ?? []
  }

  /** Every copy of it, on every hypervisor that answered the last time. Rejects when it is on none of them and may be on another. */
  async everywhere(machine: string): Promise<readonly PresentMachine[]> {
    const asked = this.#options.hypervisors.filter(({ uri }) => !this.#unread.some(({ where }) => where === uri))
    const sights = await Promise.all(asked.map((each) => this.#look(each, () => this.#read(each))))
    const found = sights.flatMap(({ machines }) => machines).filter(isNamed(machine))
    if (found.length > 0) return instancesOf(found, this.#options.hardware.get(machine)?.hypervisor)
    const unread = [...this.#unread, ...sights.flatMap((sight) => sight.unread)]
    const foreign = unread.find((each) => isForeign(each) && each.domain === domainName(this.#options.stack, machine))
    if (foreign !== undefined) throw foreign.error
    this.#goOnWithout(unread)
    return []
  }

  unread(): readonly Unread[] {
    return this.#unread
  }

  async #readAll({ isTolerant = false }: ReadHow, read: (hypervisor: Hypervisor) => Promise<Presence>) {
    const sights = await Promise.all(
      this.#options.hypervisors.map((hypervisor) => this.#look(hypervisor, () => read(hypervisor))),
    )
    this.#unread = sights.flatMap(({ unread }) => unread)
    if (!isTolerant) this.#goOnWithout(this.#unread)
    return this.#withoutLeftovers(sights.flatMap(({ machines }) => machines))
  }

  #withoutLeftovers(found: readonly PresentMachine[]): PresentMachine[] {
    const { hardware, homes } = this.#options
    const copiesOf = Map.groupBy(found, ({ record }) => record.machine)
    const sorted = [...copiesOf].map(([machine, copies]) => {
      const belonging = { home: homes?.get(machine), wanted: hardware.get(machine)?.hypervisor }
      return [machine, sortCopies(copies, belonging)] as const
    })
    this.#migrated = [...copiesOf.values()].flatMap((copies) => findMigrated(copies) ?? [])
    this.#leftovers = new Map(sorted.map(([machine, { leftovers }]) => [machine, leftovers]))
    for (const [machine, { current }] of sorted) this.#seen.set(machine, current.hypervisor.uri)
    return sorted.map(([, { current }]) => current)
  }

  async #read(hypervisor: Hypervisor): Promise<Presence> {
    const { stack, stackId, takesForeign = false } = this.#options
    const { machines, damaged } = await readPresence(hypervisor, stack)
    const isOurs = ({ record }: PresentMachine) => stackId === undefined || takesForeign || record.stackId === stackId
    const own = machines.filter(isOurs).map(whereItIs)
    const foreign = machines.filter((present) => !isOurs(present))
    return {
      machines: own,
      damaged: [...damaged, ...foreign.map((each) => ({ ...each, error: elsewhere(stack, each) }))],
    }
  }

  async #look(hypervisor: Hypervisor, read: () => Promise<Presence>): Promise<Sight> {
    const { stack, hardware, needed, signal } = this.#options
    const { uri } = hypervisor
    const isNeeded = needed?.has(uri) ?? true
    try {
      const { machines, damaged } = await read()
      const wanted = new Set([...hardware.keys()].map((machine) => domainName(stack, machine)))
      const unread = damaged.map(({ domain: { name }, error }) => ({
        ...{ where: `domain "${name}" on ${uri}`, domain: name, error },
        isNeeded: isForeign({ error }) ? isNeeded : wanted.has(name),
      }))
      return { machines, unread }
    } catch (error) {
      if (signal.aborted || !isOfOneHypervisor(error)) throw error
      return { machines: [], unread: [{ where: uri, error, isNeeded }] }
    }
  }

  #goOnWithout(unread: readonly Missing[]): void {
    const missed = unread.find(({ isNeeded }) => isNeeded)
    if (missed !== undefined) throw missed.error
    for (const each of unread) {
      if (!this.#told.has(each.where)) this.#options.onUnread(each)
      this.#told.add(each.where)
    }
  }
}

/** Started where it is off, it would run twice, with the same addresses and the same data. */
function migratedError({ on, off }: Migrated): HoldfastError {
  const { name } = off.domain
  return new HoldfastError(
    'MachineMigrated',
    `Cannot use "${on.record.machine}": it runs on ${on.hypervisor.uri}, and ${off.hypervisor.uri} has it, too, switched off; expected one of them`,
    {
      hint: `if it is to stay there, give it "hypervisor: ${on.hypervisor.uri}" and remove the other one: virsh -c ${off.hypervisor.uri} undefine ${name}; else migrate it back`,
    },
  )
}

/** Without virsh, none of them answers. */
function isOfOneHypervisor(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && error.code !== 'VirshMissing'
}

/** Where it was found is where it is, however the address was spelled when it was made. */
function whereItIs(present: PresentMachine): PresentMachine {
  const { record, hypervisor } = present
  return { ...present, record: { ...record, hardware: { ...record.hardware, hypervisor: hypervisor.uri } } }
}

function isForeign({ error }: Pick<Unread, 'error'>): boolean {
  return error.code === 'StackElsewhere'
}

/** Its secrets are on the host that made it, and so is who knows whether it may go. */
function elsewhere(stack: string, { hypervisor, domain }: PresentMachine): HoldfastError {
  return new HoldfastError(
    'StackElsewhere',
    `Cannot use domain "${domain.name}" on ${hypervisor.uri}: it belongs to a stack "${stack}" that was made from another place; it is left alone`,
    { hint: ELSEWHERE_HINT },
  )
}
