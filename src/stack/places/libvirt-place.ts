// Stacks of `target: libvirt`: virtual machines on one or several hypervisors. Everything there is to know of them is asked
// of libvirt; this host only needs to reach it.

import { join } from 'node:path'
import { withHostParts } from '../../clusters/host/host-parts.ts'
import type { Site } from '../../clusters/site.ts'
import { HoldfastError } from '../../lib/errors.ts'
import { show } from '../../machine/content.ts'
import type { Machine } from '../../machine/machine.ts'
import type { Finding } from '../../targets/finding.ts'
import { AcceleratorChoice } from '../../targets/libvirt/accelerator.ts'
import { checkHypervisor } from '../../targets/libvirt/checks/check-hypervisor.ts'
import { checkPrograms, hostPackages } from '../../targets/libvirt/checks/programs.ts'
import { renderCloudInit } from '../../targets/libvirt/cloud-init/cloud-init.ts'
import { renderDomain } from '../../targets/libvirt/domain-xml.ts'
import type { Hypervisor } from '../../targets/libvirt/hypervisor.ts'
import { domainName, UUID_TO_COME } from '../../targets/libvirt/identity.ts'
import { LibvirtTarget } from '../../targets/libvirt/libvirt-target.ts'
import { findOrphan } from '../../targets/libvirt/orphan.ts'
import { type PlaceQuestion, readPlaceFacts } from '../../targets/libvirt/place-facts.ts'
import { placeMachines, throwProblems } from '../../targets/libvirt/place-machine.ts'
import { type Placement, PROGRAM, WATCHDOG } from '../../targets/libvirt/placement.ts'
import { readPresence } from '../../targets/libvirt/present-machine.ts'
import { programHash } from '../../targets/libvirt/program-volume.ts'
import { openHypervisor } from '../../targets/libvirt/virsh.ts'
import { recordOf } from '../../targets/libvirt/written-machine.ts'
import { isProblem } from '../../targets/finding.ts'
import { programCommand } from '../../targets/program.ts'
import type { PlannedHardware } from '../plan.ts'
import type { Stack } from '../stack.ts'
import { describeHardware } from './describe-hardware.ts'
import type { HostNeeds, Place, PlaceContext, PlaceSite, PostgresVersions } from './place.ts'

/** Of Debian 12, which images are made of. */
const USUAL_POSTGRES = '15'

export class LibvirtPlace implements Place {
  readonly target: LibvirtTarget
  /** By the guest's own root, whoever we are here. */
  readonly setsOwners = true
  readonly #stack: string
  readonly #stackId: string
  readonly #path: string
  readonly #hypervisors: readonly Hypervisor[]
  readonly #accelerators: AcceleratorChoice
  readonly #signal: AbortSignal
  readonly #temporary: string
  /** URIs of those that the file names. */
  readonly #needed: ReadonlySet<string>

  constructor(
    {
      stack,
      stackId,
      takesForeign = false,
      directory,
      env,
      hypervisors,
      homes = new Map(),
      hardware,
      stopSignal,
      report,
    }: PlaceContext,
    open = openHypervisor,
  ) {
    const signal = stopSignal()
    this.#stack = stack
    this.#stackId = stackId
    this.#signal = signal
    // What goes through it is secret, and is found again by whoever comes next.
    this.#temporary = join(directory.path, 'tmp')
    this.#path = env.PATH ?? ''
    this.#hypervisors = hypervisors.map((uri) => open(uri, { signal, env }))
    this.#accelerators = new AcceleratorChoice({
      signal,
      progress: (message) => report({ machine: undefined, state: 'working', message }),
    })
    this.#needed = new Set([...hardware.values()].map(({ hypervisor }) => hypervisor))
    this.target = new LibvirtTarget({
      ...{ stack, stackId, takesForeign, homes, hardware, signal },
      ...{ hypervisors: this.#hypervisors, temporary: this.#temporary },
      // Where machines only were, according to what was remembered, may be gone for good.
      needed: this.#needed,
      chooseType: (hypervisor, wanted, isTried) =>
        isTried ? this.#accelerators.choose(hypervisor, wanted) : this.#accelerators.expect(hypervisor, wanted),
      onPhase: (machine, message, isWarning) => report({ machine, state: isWarning ? 'warning' : 'working', message }),
    })
  }

  site(postgresVersion: string): PlaceSite {
    return {
      ...{ path: (_, path) => path, program: programCommand(PROGRAM.home), watchdogDevice: WATCHDOG },
      postgresPackage: `postgresql-${postgresVersion}`,
    }
  }

  complete(machine: Machine, site: Site): Machine {
    return withHostParts(machine, site)
  }

  postgresVersion({ postgres }: Stack): Promise<PostgresVersions> {
    return Promise.resolve({ version: postgres?.version ?? USUAL_POSTGRES, available: undefined })
  }

  hardwareOf({ name, hardware }: Machine): PlannedHardware {
    return describeHardware(domainName(this.#stack, name), hardware)
  }

  needs(): HostNeeds {
    return { packages: hostPackages(this.#uris), users: [] }
  }

  async check(machines: readonly Machine[]): Promise<readonly Finding[]> {
    const programs = checkPrograms(this.#uris, this.#path)
    if (programs.some(isProblem)) return programs
    const found = await Promise.all(
      this.#used(machines).map(([hypervisor, here]) => checkHypervisor(hypervisor, here, this.#question(hypervisor))),
    )
    return [...programs, ...found.flat()]
  }

  /** Its secrets are on the host that made it: without them its machines would be changed under its feet. */
  async refuseElsewhere(): Promise<void> {
    const used = this.#hypervisors.filter(({ uri }) => this.#needed.has(uri))
    const found = await Promise.all(used.map((each) => readPresence(each, this.#stack)))
    const other = found.flatMap(({ machines }) => machines).find(({ record }) => record.stackId !== this.#stackId)
    if (other === undefined) return
    throw new HoldfastError(
      'StackElsewhere',
      `Cannot bring up "${this.#stack}": ${other.hypervisor.uri} has machines of a stack of that name that was made from another place ("${other.domain.name}"); give this one another name`,
      {
        hint: 'its passwords and authority are where it was made, below the directory of --state: work from there, or bring that directory here',
      },
    )
  }

  /** The same as long as nothing changes: ids that are made with a machine are not shown, neither is what chance is part of. */
  async describe(machines: readonly Machine[]): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
    const written = new WeakMap()
    const placements = await this.placements(machines)
    return new Map(
      machines.map((machine) => {
        const placement = placements.get(machine.name)
        if (placement === undefined) throw new Error(`no place for ${machine.name}`)
        const { userData, metaData, networkConfig } = renderCloudInit(machine, placement, written)
        const record = { ...recordOf(machine, placement), seedDigest: '(of the cloud-init volume, once it is written)' }
        const texts = new Map([
          ['cloud-init/user-data', show(userData)],
          ['cloud-init/meta-data', metaData],
          ['cloud-init/network-config', networkConfig],
          ['domain.xml', renderDomain(machine, placement, record)],
        ])
        return [machine.name, texts] as const
      }),
    )
  }

  /** Where machines are or would be made, to look at: those that are not there have no ids of their own yet. */
  async placements(machines: readonly Machine[]): Promise<ReadonlyMap<string, Placement>> {
    const found = await Promise.all(
      this.#used(machines).map(async ([hypervisor, here]) => {
        const facts = await readPlaceFacts(hypervisor, here, this.#question(hypervisor))
        const { placements, problems } = placeMachines(here, facts, () => UUID_TO_COME)
        throwProblems(problems)
        return [...placements].map(([name, placement]) => [name, withoutNewIds(placement)] as const)
      }),
    )
    return new Map(found.flat())
  }

  get #uris(): readonly string[] {
    return this.#hypervisors.map(({ uri }) => uri)
  }

  /** Those that machines are on, with them. */
  #used(machines: readonly Machine[]): readonly (readonly [Hypervisor, readonly Machine[]])[] {
    return this.#hypervisors
      .map((each) => [each, machines.filter(({ hardware }) => hardware.hypervisor === each.uri)] as const)
      .filter(([, here]) => here.length > 0)
  }

  #question(hypervisor: Hypervisor): PlaceQuestion {
    return {
      ...{ stack: this.#stack, stackId: this.#stackId, programHash: programHash() },
      chooseType: (wanted) => this.#accelerators.expect(hypervisor, wanted),
      findOrphan: (machine, pools) =>
        findOrphan(hypervisor, machine, this.#stack, { pools, temporary: this.#temporary, signal: this.#signal }),
    }
  }
}

/** A stack that was never up has another id each time its file is opened. */
function withoutNewIds(placement: Placement): Placement {
  return placement.instanceId === UUID_TO_COME ? { ...placement, stackId: UUID_TO_COME } : placement
}
