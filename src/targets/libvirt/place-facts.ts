// What a hypervisor has that machines can be placed on or would collide with: asked once for all machines of it, and from
// then on plain data.

import { basename } from 'node:path'
import type { Accelerator, Hardware } from '../../machine/hardware.ts'
import type { Machine } from '../../machine/machine.ts'
import { type Claimed, claimedBy } from './claims.ts'
import { domainName } from './identity.ts'
import type { Domain, HostFacts, Hypervisor, Network, Pool, Volume } from './hypervisor.ts'
import type { MachineRecord } from './machine-record.ts'
import type { PlacedDisk, Placement } from './placement.ts'
import { readRecord } from './record-xml.ts'

export type DomainType = Placement['domainType']

export interface PlaceFacts {
  readonly stack: string
  readonly stackId?: string
  readonly uri: string
  readonly kind: Hypervisor['kind']
  readonly isLocal: boolean
  readonly host: HostFacts
  /** By name, and by UUID. */
  readonly domains: ReadonlyMap<string, Domain>
  readonly claimed: Claimed
  readonly networks: readonly Network[]
  /** Of the host; only where a machine wants one. */
  readonly hostInterfaces: readonly string[]
  readonly pools: readonly Pool[]
  /** By the id asked for; undefined when there is none. */
  readonly volumes: ReadonlyMap<string, Volume | undefined>
  /** By machine. */
  readonly domainTypes: ReadonlyMap<string, DomainType>
  /** Of machines whose domains are gone and whose volumes are not. */
  readonly orphans: ReadonlyMap<string, MachineRecord>
  /** Of our own program; undefined where there is none to bring along. */
  readonly programHash: string | undefined
}

export interface PlaceQuestion {
  readonly stack: string
  /** Of the stack, where it has one: machines of another of the same name are not ours. */
  readonly stackId?: string
  readonly programHash: string | undefined
  /** Asked at most once for each accelerator, and not for machines that are there and want what they have. */
  readonly chooseType: (wanted: Accelerator) => Promise<DomainType>
  /** For a machine that has no domain and a volume of the name of its cloud-init volume. */
  readonly findOrphan: (machine: Machine, pools: readonly Pool[]) => Promise<MachineRecord | undefined>
}

/** Pool for everything where none is named, if it is there: libvirt's own habit. */
const USUAL_POOL = 'default'
/** Each is a question of its own to libvirt. */
const VOLUMES_AT_ONCE = 8

export async function readPlaceFacts(
  hypervisor: Hypervisor,
  machines: readonly Machine[],
  { stack, stackId, programHash, chooseType, findOrphan }: PlaceQuestion,
): Promise<PlaceFacts> {
  const wantsMacvtap = machines.some(({ hardware }) => hardware.networks.some(({ attach }) => 'macvtap' in attach))
  const [host, domains, networks, pools, hostInterfaces] = await Promise.all([
    hypervisor.host(),
    hypervisor.domains(),
    hypervisor.networks(),
    hypervisor.pools(),
    wantsMacvtap ? hypervisor.hostInterfaces() : [],
  ])
  // Those that are not active have no volumes, and fail to be asked.
  const inactive = pools.filter(({ isActive }) => !isActive).map(({ name }) => `${name}/`)
  const ids = machines
    .flatMap((machine) => volumesAsked(stack, machine, pools, hypervisor.kind))
    .filter((id) => !inactive.some((pool) => id.startsWith(pool)))
  const volumes = await findVolumes(hypervisor, [...new Set(ids)])
  const lost = machines.filter(
    (machine) =>
      !domains.some(({ name }) => name === domainName(stack, machine.name)) && hasSeed(stack, machine, pools, volumes),
  )
  const orphans = await Promise.all(
    lost.map(async (machine) => [machine.name, await findOrphan(machine, pools)] as const),
  )
  const { uri, kind, isLocal } = hypervisor
  const present = new Map(domains.flatMap((each) => [[each.uuid, each] as const, [each.name, each] as const]))
  return {
    stack,
    ...(stackId !== undefined && { stackId }),
    uri,
    kind,
    isLocal,
    host,
    domains: present,
    claimed: claimedBy(domains),
    networks,
    hostInterfaces,
    pools,
    volumes,
    orphans: new Map(orphans.flatMap(([name, record]) => (record === undefined ? [] : [[name, record]]))),
    domainTypes: await typesOf(machines, present, stack, chooseType),
    programHash,
  }
}

/** Whether it was looked for, and is not there. */
export function isVolumeGone({ volumes }: PlaceFacts, { pool, path }: PlacedDisk): boolean {
  const id = `${pool}/${basename(path)}`
  return volumes.has(id) && volumes.get(id) === undefined
}

/** What a directory has that containers can boot from. */
export function rootMark(directory: string): string {
  return `${directory}/sbin`
}

/** Where the root disk is made, and where cloud-init's volume is. */
export function poolNameOf(given: string | undefined, pools: readonly Pool[]): string | undefined {
  return given ?? pools.find(({ name }) => name === USUAL_POOL)?.name
}

/** `POOL/NAME`, or a path; undefined where the machine has none. */
export function baseVolumeId({ baseVolume, volumePool }: Hardware, pools: readonly Pool[]): string | undefined {
  if (baseVolume === undefined || baseVolume.includes('/')) return baseVolume
  return `${poolNameOf(volumePool, pools) ?? USUAL_POOL}/${baseVolume}`
}

export function rootVolumeName(stack: string, machine: string): string {
  return `${domainName(stack, machine)}.qcow2`
}

/** With the stack in it: two stacks may have machines of the same name. */
export function seedVolumeName(stack: string, { name, hardware }: Pick<Machine, 'name' | 'hardware'>): string {
  return hardware.cloudInitVolumeName ?? defaultSeedName(stack, name)
}

export function defaultSeedName(stack: string, machine: string): string {
  return `${domainName(stack, machine)}-cloud-init.iso`
}

/** Containers have directories: a root file system has one for its first program. */
function volumesAsked(
  stack: string,
  machine: Machine,
  pools: readonly Pool[],
  kind: Hypervisor['kind'],
): readonly string[] {
  const { hardware } = machine
  const { volumeId, dataVolumeId } = hardware
  if (kind === 'lxc') return [volumeId, volumeId && rootMark(volumeId), dataVolumeId].filter((id) => id !== undefined)
  const rootPool = poolNameOf(hardware.volumePool, pools)
  const seedPool = poolNameOf(hardware.cloudInitVolumePool, pools)
  const asked = [
    hardware.volumeId,
    hardware.dataVolumeId,
    hardware.volumeId === undefined ? baseVolumeId(hardware, pools) : undefined,
    hardware.volumeId === undefined && rootPool !== undefined
      ? `${rootPool}/${rootVolumeName(stack, machine.name)}`
      : undefined,
    seedPool === undefined ? undefined : `${seedPool}/${seedVolumeName(stack, machine)}`,
  ]
  return asked.filter((id) => id !== undefined)
}

function hasSeed(stack: string, machine: Machine, pools: readonly Pool[], volumes: PlaceFacts['volumes']): boolean {
  const pool = poolNameOf(machine.hardware.cloudInitVolumePool, pools)
  return pool !== undefined && volumes.get(`${pool}/${seedVolumeName(stack, machine)}`) !== undefined
}

async function findVolumes(
  hypervisor: Hypervisor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Volume | undefined>> {
  const found = new Map<string, Volume | undefined>()
  const waiting = ids.values()
  const ask = async () => {
    for (const id of waiting) found.set(id, await hypervisor.findVolume(id))
  }
  await Promise.all(Array.from({ length: VOLUMES_AT_ONCE }, ask))
  return found
}

async function typesOf(
  machines: readonly Machine[],
  domains: ReadonlyMap<string, Domain>,
  stack: string,
  chooseType: PlaceQuestion['chooseType'],
): Promise<ReadonlyMap<string, DomainType>> {
  const chosen = new Map<Accelerator, DomainType>()
  const types = new Map<string, DomainType>()
  for (const { name, hardware } of machines) {
    const wanted = hardware.accelerator
    const present = wanted === 'auto' ? presentType(domains, stack, name) : undefined
    const type = present ?? chosen.get(wanted) ?? (await chooseType(wanted))
    if (present === undefined) chosen.set(wanted, type)
    types.set(name, type)
  }
  return types
}

/** What was chosen for it when it was made, by `auto` as well: it works. */
function presentType(domains: ReadonlyMap<string, Domain>, stack: string, machine: string): DomainType | undefined {
  const domain = domains.get(domainName(stack, machine))
  const isOurs = domain !== undefined && readRecord(domain, stack)?.hardware.accelerator?.startsWith('auto')
  return isOurs ? (domain.definition.type as DomainType) : undefined
}
