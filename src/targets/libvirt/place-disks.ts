// The disks of a machine: volumes that are there, or that we make in a pool under names of ours. One that is there and that
// no record of the machine names is somebody else's, whatever it is called; so a domain is defined before its volumes are made.

import { join } from 'node:path'
import { HoldfastError } from '../../lib/errors.ts'
import type { Machine } from '../../machine/machine.ts'
import type { Pool, Volume } from './hypervisor.ts'
import { baseVolumeId, poolNameOf, type PlaceFacts, rootMark, rootVolumeName, seedVolumeName } from './place-facts.ts'
import { listOf, type Report, suggestion } from './place-network.ts'
import { directoryIn, type PlacedBase, type PlacedDisk, type PlacedDisks, PROGRAM } from './placement.ts'

const GIB = 1024 ** 3

/** Undefined when something is in the way, which was reported then. `before`: the disks it has, if it is there. */
export function placeDisks(
  machine: Machine,
  facts: PlaceFacts,
  before: PlacedDisks | undefined,
  report: Report,
): PlacedDisks | undefined {
  const place = new DiskPlace(machine, facts, before, report)
  const root = place.root()
  const data = place.data()
  const seed = place.seed()
  if (root === undefined || data === 'missing' || seed === undefined) return undefined
  return { root, data, seed, program: place.program(seed) }
}

/** Whether a service of it is our own program. */
export function needsProgram({ services }: Pick<Machine, 'services'>): boolean {
  return services.some(({ command: [program] }) => program.startsWith(`${PROGRAM.home}/`))
}

class DiskPlace {
  readonly #machine: Machine
  readonly #facts: PlaceFacts
  readonly #before: PlacedDisks | undefined
  readonly #report: Report
  readonly #inactive = new Set<string>()
  /** The same is in the way of several disks, and told once. */
  readonly #refused = new Set<string>()

  constructor(machine: Machine, facts: PlaceFacts, before: PlacedDisks | undefined, report: Report) {
    this.#machine = machine
    this.#facts = facts
    this.#before = before
    this.#report = report
  }

  root(): PlacedDisk | undefined {
    const { volumeId, baseVolume } = this.#machine.hardware
    if (volumeId !== undefined) return this.#given('volume_id', volumeId, this.#before?.root)
    if (baseVolume === undefined || this.#facts.kind === 'lxc') {
      const [what, hint] =
        this.#facts.kind === 'lxc'
          ? ['no root directory', 'give it "volume_id": the path of a directory on the host']
          : ['no root disk', 'give it "volume_id", or "base_volume" to make one from']
      this.#report(new HoldfastError('VolumeMissing', `Cannot place "${this.#machine.name}": it has ${what}`, { hint }))
      return undefined
    }
    return this.#made()
  }

  data(): PlacedDisk | undefined | 'missing' {
    const { dataVolumeId, volumeId } = this.#machine.hardware
    if (dataVolumeId === undefined) return undefined
    if (dataVolumeId === volumeId) {
      const message = `Cannot place "${this.#machine.name}": volume "${dataVolumeId}" is its root disk and its data disk; expected one for each`
      this.#report(new HoldfastError('VolumeInUse', message))
      return 'missing'
    }
    return this.#given('data_volume_id', dataVolumeId, this.#before?.data) ?? 'missing'
  }

  seed(): PlacedDisk | undefined {
    const pool = this.#pool(this.#machine.hardware.cloudInitVolumePool, 'cloud_init_volume_pool')
    const name = seedVolumeName(this.#facts.stack, this.#machine)
    if (pool === undefined) return undefined
    if (this.#facts.kind === 'lxc') return directoryIn(pool, name)
    const there = this.#facts.volumes.get(`${pool.name}/${name}`)
    if (there !== undefined && !this.#isOurs(there, this.#before?.seed)) return undefined
    return { path: there?.path ?? join(pool.path, name), format: 'raw', pool: pool.name, isOurs: true }
  }

  /** Beside the seed. Not of this machine alone, so it does not go with it. */
  program(seed: PlacedDisk): PlacedDisk | undefined {
    const { programHash, kind, pools } = this.#facts
    const pool = pools.find(({ name }) => name === seed.pool)
    if (programHash === undefined || pool?.path === undefined || !needsProgram(this.#machine)) return undefined
    const name = `holdfast-program-${programHash}.iso`
    if (kind === 'lxc') return { ...directoryIn({ name: pool.name, path: pool.path }, name), isOurs: false }
    return { path: join(pool.path, name), format: 'raw', pool: pool.name, isOurs: false }
  }

  /** libvirt guesses formats from what machines have written: what a disk once was, it stays. */
  #given(variable: string, id: string, before: PlacedDisk | undefined): PlacedDisk | undefined {
    if (this.#facts.kind === 'lxc') return this.#directory(variable, id)
    const volume = this.#facts.volumes.get(id)
    if (volume === undefined) {
      this.#reportMissing(`${variable} "${id}"`, id)
      return undefined
    }
    return { path: volume.path, format: before?.path === volume.path ? before.format : volume.format, isOurs: false }
  }

  #directory(variable: string, id: string): PlacedDisk | undefined {
    const { volumes, uri } = this.#facts
    const path = volumes.get(id)?.path
    const isRoot = variable !== 'volume_id' || volumes.get(rootMark(id)) !== undefined
    if (path !== undefined && path !== '/' && isRoot) return { path, format: 'dir', isOurs: false }
    const what =
      path === undefined
        ? 'there is no such directory'
        : path === '/'
          ? 'that is the root of the host'
          : 'it has no sbin'
    const wanted = variable === 'volume_id' ? 'a directory with a root file system' : 'a directory'
    const message = `Cannot place "${this.#machine.name}" with ${variable} "${id}" on ${uri}: ${what}; expected ${wanted}, by its path from the root`
    this.#report(new HoldfastError('VolumeMissing', message))
    return undefined
  }

  #made(): PlacedDisk | undefined {
    const { hardware, name } = this.#machine
    const pool = this.#pool(hardware.volumePool, 'volume_pool')
    if (pool === undefined) return undefined
    const baseId = baseVolumeId(hardware, this.#facts.pools) as string
    const base = this.#facts.volumes.get(baseId)
    if (base === undefined) {
      this.#reportMissing(`base_volume "${baseId}"`, baseId)
      return undefined
    }
    const { volumeSizeGib } = hardware
    if (volumeSizeGib !== undefined && volumeSizeGib * GIB < base.capacityBytes) {
      const message = `Cannot place "${name}": its volume_size is ${volumeSizeGib} GiB, and "${baseId}" has ${(base.capacityBytes / GIB).toFixed(1)} GiB; expected at least as much`
      this.#report(new HoldfastError('VolumeTooSmall', message))
      return undefined
    }
    const volume = rootVolumeName(this.#facts.stack, name)
    const there = this.#facts.volumes.get(`${pool.name}/${volume}`)
    if (there !== undefined && !this.#isOurs(there, this.#before?.root)) return undefined
    const before = this.#before?.root
    if (there !== undefined && before !== undefined && this.#isOtherBase(before, base)) return undefined
    const onto = there === undefined ? baseOf(base) : before?.base
    return {
      ...{ path: there?.path ?? join(pool.path, volume), format: 'qcow2', pool: pool.name, isOurs: true },
      ...(onto !== undefined && { base: onto }),
    }
  }

  /** Whether there is another content under the name of what the disk was made from. One under another name does no harm. */
  #isOtherBase({ base: made }: PlacedDisk, base: Volume): boolean {
    if (made?.path !== base.path || made.version === baseOf(base).version) return false
    const message = `Cannot use base volume "${base.path}": it is not the one that the disk of "${this.#machine.name}" was made from; a disk reads from its base whatever it has not written itself`
    const hint =
      'put the old one back, or give the new one another name: with that as "base_volume" the machine is made anew'
    this.#report(new HoldfastError('BaseChanged', message, { hint }))
    return true
  }

  #pool(given: string | undefined, variable: string): PlacePool | undefined {
    const { pools, uri } = this.#facts
    const names = pools.map(({ name }) => name)
    const asked = poolNameOf(given, pools)
    const pool = pools.find(({ name }) => name === asked)
    const refuse = (problem: string, hint: { readonly hint?: string }): undefined => {
      if (this.#refused.has(problem)) return
      this.#refused.add(problem)
      this.#report(new HoldfastError('PoolMissing', `Cannot place "${this.#machine.name}": ${problem}`, hint))
    }
    if (asked === undefined)
      return refuse(`it names no volume pool, and ${uri} has no "default"; it has ${listOf(names)}`, {
        hint: `give "${variable}", or make one: ${makePool(uri, 'default')}`,
      })
    if (pool === undefined) {
      const near = suggestion(asked, names)
      const hint = near.hint ?? `make it: ${makePool(uri, asked)}`
      return refuse(`${uri} has no pool "${asked}"; it has ${listOf(names)}`, { hint })
    }
    if (!pool.isActive) {
      this.#reportInactive(asked)
      return undefined
    }
    if (pool.path === undefined)
      return refuse(`volumes of pool "${asked}" (${pool.type}) have no path; expected a pool of files`, {})
    return { name: pool.name, path: pool.path }
  }

  /** Once, however much of it is there. */
  #reportInactive(pool: string): void {
    if (this.#inactive.has(pool)) return
    this.#inactive.add(pool)
    const message = `Cannot place "${this.#machine.name}": its pool "${pool}" is not active`
    this.#report(new HoldfastError('PoolInactive', message, { hint: `virsh -c ${this.#facts.uri} pool-start ${pool}` }))
  }

  #reportMissing(what: string, id: string): void {
    const inactive = this.#facts.pools.find(({ name, isActive }) => !isActive && id.startsWith(`${name}/`))
    if (inactive === undefined) this.#report(this.#missing(what, id))
    else this.#reportInactive(inactive.name)
  }

  #missing(what: string, id: string): HoldfastError {
    const { pools, uri } = this.#facts
    const [pool, ...rest] = id.split('/')
    const isInPool = pool !== '' && rest.length > 0
    const names = pools.map(({ name }) => name)
    const options =
      isInPool && !names.includes(pool)
        ? suggestion(pool, names)
        : {
            hint: isInPool
              ? `virsh -c ${uri} vol-list ${pool}${what.startsWith('base_volume') ? '; "holdfast image build --output" makes one, and "virsh pool-refresh" shows it to libvirt' : ''}`
              : 'a volume is known by its path, or as POOL/NAME',
          }
    const has = isInPool && !names.includes(pool) ? `pools are ${listOf(names)}` : 'there is no such volume'
    return new HoldfastError('VolumeMissing', `Cannot place "${this.#machine.name}" with ${what}: ${has}`, options)
  }

  #isOurs(there: Volume, recorded: PlacedDisk | undefined): boolean {
    if (recorded?.path === there.path && recorded.isOurs) return true
    const message = `Cannot place "${this.#machine.name}": volume "${there.name}" of pool "${there.pool}" is there already, and is not the machine's; it is left alone`
    const hint = `if it is left of a machine that was undefined by hand, remove it: virsh -c ${this.#facts.uri} vol-delete --pool ${there.pool} ${there.name}`
    this.#report(new HoldfastError('VolumeForeign', message, { hint }))
    return false
  }
}

function makePool(uri: string, name: string): string {
  const virsh = `virsh -c ${uri}`
  return `${virsh} pool-define-as ${name} dir --target /var/lib/libvirt/${name === 'default' ? 'images' : name} && ${virsh} pool-build ${name} && ${virsh} pool-start ${name} && ${virsh} pool-autostart ${name}`
}

function baseOf({ path, capacityBytes, allocationBytes, modified }: Volume): PlacedBase {
  return { path, version: `${capacityBytes} ${modified ?? allocationBytes}` }
}

type PlacePool = Pick<Pool, 'name'> & { readonly path: string }
