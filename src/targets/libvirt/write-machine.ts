// Makes a machine, or brings one up to date, so that whoever is interrupted can go on, at any point:
//
//   define ─▶ root volume ─▶ program volume ─▶ (a running machine: its files) ─▶ cloud-init volume ─▶ record
//
// The definition comes first: it says whose the volumes are, those that are still to be made, too. The cloud-init volume, which is what
// we read back, comes after what it tells of; until the record has its digest, it counts for nothing and is written again.

import { randomUUID } from 'node:crypto'
import type { Accelerator } from '../../machine/hardware.ts'
import type { Machine } from '../../machine/machine.ts'
import type { WrittenMachine } from './cloud-init/seed-record.ts'
import { PROGRAM_DRIVE, renderDomain, SEED_DRIVE } from './domain-xml.ts'
import type { GuestMachine } from './guest-machine.ts'
import { definitionChanges, refuseOtherDisks } from './definition-changes.ts'
import { compareHardwareRecords } from './hardware-changes.ts'
import type { Hypervisor } from './hypervisor.ts'
import { type MachineRecord, UNKNOWN_DIGEST } from './machine-record.ts'
import { findOrphan, orphanMachine } from './orphan.ts'
import { baseVolumeId, type DomainType, type PlaceFacts, readPlaceFacts } from './place-facts.ts'
import { placeMachine } from './place-machine.ts'
import type { PlacedDisk, Placement } from './placement.ts'
import { isRunning, type PresentMachine, writtenMachine } from './present-machine.ts'
import { programHash } from './program-volume.ts'
import { recordElement } from './record-xml.ts'
import { readSeed, type SeedFiles, type SeedPlace, writeSeed } from './seed-volume.ts'
import { discardBoot, unborn, whyUnfinished } from './unfinished-boot.ts'
import { createVolumeOf, volumeOf } from './volume-of.ts'
import { applyRequest, pendingAfter, recordOf, seedFiles, withInitialFiles } from './written-machine.ts'

export interface WriteOptions {
  readonly stack: string
  readonly stackId?: string
  readonly hypervisor: Hypervisor
  readonly present: PresentMachine | undefined
  readonly chooseType: (hypervisor: Hypervisor, wanted: Accelerator) => Promise<DomainType>
  /** Of a machine that runs; resolves when that has booted. */
  readonly guest: () => Promise<GuestMachine>
  /** Resolves when our program is there, on its hypervisor. */
  readonly ensureProgram: (disk: PlacedDisk) => Promise<void>
  /** That of another version, which this machine has no longer. */
  readonly releaseProgram: (disk: PlacedDisk) => Promise<void>
  /** For files that are gone when we are done. */
  readonly temporary: string
  readonly signal: AbortSignal
  /** What there is to say of it. */
  readonly onPhase?: (machine: string, phase: string, isWarning: boolean) => void
}

const GIB = 1024 ** 3

type Placing = Pick<WriteOptions, 'stack' | 'stackId' | 'hypervisor' | 'chooseType' | 'temporary' | 'signal'>

/** What there is to know before machines are placed on a hypervisor. */
export function factsFor(machines: readonly Machine[], placing: Placing): Promise<PlaceFacts> {
  const { stack, stackId, hypervisor, chooseType, temporary, signal } = placing
  return readPlaceFacts(hypervisor, machines, {
    ...{ stack, programHash: programHash() },
    ...(stackId !== undefined && { stackId }),
    chooseType: (wanted) => chooseType(hypervisor, wanted),
    findOrphan: (machine, pools) => findOrphan(hypervisor, machine, stack, { pools, temporary, signal }),
  })
}

export async function writeMachine(wanted: Machine, options: WriteOptions): Promise<void> {
  const { temporary, signal } = options
  const begun = options.present && (await withoutUnfinishedBoot(wanted, options.present, options))
  const present = begun ?? options.present
  const isAnew = begun !== undefined
  const facts = await factsFor([wanted], options)
  const placed = placeMachine(wanted, facts, isAnew ? randomUUID() : undefined)
  const fresh = recordOf(wanted, placed)
  const orphan = facts.orphans.get(wanted.name)
  // Of one that is taken up again nobody knows what its disks have of what it should have.
  const known = present?.record ?? (orphan && { ...orphan, hasBooted: true, appliedDigest: UNKNOWN_DIGEST })
  const before =
    present !== undefined
      ? await writtenMachine(present, options)
      : orphan && (await orphanMachine(orphan, { hypervisor: options.hypervisor, temporary, signal }))
  const machine = withInitialFiles(wanted, before)
  const writing = { ...options, present }
  if (known === undefined) return new Writing(machine, placed, fresh, before, writing).define()
  const { isKept: _, ...record } = isAnew ? { ...unborn(known), instanceId: fresh.instanceId } : known
  const changes = compareHardwareRecords(record.hardware, fresh.hardware)
  if (changes.some(({ takes }) => takes === 'replace')) {
    // Until it is made anew it stays what it is, and goes on to be told.
    const asIs = new Writing(machine, { ...placed, disks: record.disks }, record, before, writing)
    return present === undefined ? asIs.define() : asIs.write()
  }
  const updated = new Writing(machine, placed, { ...record, ...fresh, seedDigest: record.seedDigest }, before, writing)
  const isAsDefined =
    changes.length === 0 &&
    present !== undefined &&
    definitionChanges(machine, placed, present.domain).length === 0 &&
    present.domain.isPersistent
  return isAsDefined ? updated.write() : updated.define()
}

/** The machine as it is before its first boot; undefined when it can stay as it is. */
async function withoutUnfinishedBoot(
  wanted: Machine,
  present: PresentMachine,
  options: WriteOptions,
): Promise<PresentMachine | undefined> {
  const why = await whyUnfinished(present, options.guest)
  if (why === undefined) return undefined
  // Whatever is in its way is told before anything is taken away.
  placeMachine(wanted, await factsFor([wanted], options))
  options.onPhase?.(wanted.name, `${why}; it is made anew`, true)
  return discardBoot(present)
}

class Writing {
  readonly #machine: Machine
  readonly #placement: Placement
  readonly #options: WriteOptions
  readonly #before: WrittenMachine | undefined
  /** As it is to be once all is done. */
  #record: MachineRecord

  constructor(
    machine: Machine,
    placement: Placement,
    record: MachineRecord,
    before: WrittenMachine | undefined,
    options: WriteOptions,
  ) {
    this.#machine = machine
    this.#placement = placement
    this.#record = record
    this.#before = before
    this.#options = options
  }

  /** With its definition. */
  async define(): Promise<void> {
    const { hypervisor, present } = this.#options
    if (present !== undefined) refuseOtherDisks(this.#machine.name, this.#placement, present.domain)
    await hypervisor.define(renderDomain(this.#machine, this.#placement, this.#record))
    return this.write()
  }

  async write(): Promise<void> {
    const { present, hypervisor, releaseProgram } = this.#options
    const { domain, disks } = this.#placement
    await this.#ensureRoot()
    await this.#ensureProgram()
    await this.#writeFiles()
    const { autostart } = this.#machine.hardware
    if (present?.domain.isAutostarted !== autostart) await hypervisor.autostart(domain, autostart)
    if (JSON.stringify(this.#record) !== JSON.stringify(present?.record))
      await hypervisor.setMetadata(domain, recordElement(this.#record))
    const old = present?.record.disks.program
    if (old !== undefined && old.path !== disks.program?.path) await releaseProgram(old)
  }

  /** A machine whose root disk was taken away begins anew. */
  async #ensureRoot(): Promise<void> {
    const { hypervisor } = this.#options
    const { root } = this.#placement.disks
    if (!root.isOurs || (await volumeOf(hypervisor, root)) !== undefined) return
    const { hardware } = this.#machine
    const base = await hypervisor.findVolume(baseVolumeId(hardware, await hypervisor.pools()) as string)
    if (base === undefined) throw new TypeError('a base volume that was there when the machine was placed')
    const { volumeSizeGib } = hardware
    const capacityBytes = volumeSizeGib === undefined ? base.capacityBytes : volumeSizeGib * GIB
    await createVolumeOf(hypervisor, root, { format: 'qcow2', capacityBytes, backing: base })
    this.#record = unborn(this.#record)
  }

  async #ensureProgram(): Promise<void> {
    const { hypervisor, present, ensureProgram } = this.#options
    const { disks, domain, kind } = this.#placement
    if (disks.program === undefined) return
    await ensureProgram(disks.program)
    const old = present?.record.disks.program
    if (present === undefined || old === undefined || old.path === disks.program.path || !isRunning(present)) return
    // A container keeps the directory that it started with.
    if (kind === 'lxc') await ensureProgram(old)
    else await hypervisor.changeMedia(domain, PROGRAM_DRIVE, disks.program.path)
  }

  async #writeFiles(): Promise<void> {
    const { present, hypervisor, temporary, signal, guest } = this.#options
    const { disks, domain } = this.#placement
    const files = seedFiles(this.#machine, this.#placement)
    const seed: SeedPlace = { hypervisor, disk: disks.seed, temporary, signal }
    if (await this.#isWritten(seed, files)) return
    const isLive = present !== undefined && isRunning(present)
    const request = applyRequest(this.#machine, this.#placement, this.#before, this.#record)
    if (isLive) await (await guest()).apply(request)
    const seedDigest = await writeSeed(seed, files, async () => {
      if (isLive) await hypervisor.changeMedia(domain, SEED_DRIVE, disks.seed.path)
    })
    const pending = pendingAfter(this.#machine, this.#before, this.#record)
    const later = isLive ? { appliedDigest: seedDigest, leftovers: [] } : { leftovers: request.remove }
    this.#record = { ...this.#record, seedDigest, pending, ...later }
  }

  async #isWritten(place: SeedPlace, files: SeedFiles): Promise<boolean> {
    const seed = await readSeed(place)
    if (seed === undefined || seed.digest !== this.#record.seedDigest) return false
    return seed.files.size === files.size && [...files].every(([name, text]) => seed.files.get(name) === text)
  }
}
