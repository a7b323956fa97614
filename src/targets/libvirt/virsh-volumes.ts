// Volumes by virsh: where they are, what is in them.

import type { NewVolume, Volume, VolumePart } from './hypervisor.ts'
import { readVolumeXml } from './libvirt-xml.ts'
import { virshError } from './virsh-errors.ts'
import { type Answer, type VirshProcess, withFile } from './virsh-process.ts'
import { askForVolumes } from './virsh-volume-answers.ts'
import { renderVolumeXml } from './volume-xml.ts'

const TIMEOUT_MS = 60_000
/** By ssh, through a narrow line: so slow that something else must be wrong when it takes longer. */
const SLOWEST_BYTES_PER_MS = 256
const LONGEST_TRANSFER_MS = 3_600_000

export async function findVolume(virsh: VirshProcess, id: string): Promise<Volume | undefined> {
  const asked = { action: `find volume "${id}"`, timeoutMs: TIMEOUT_MS }
  const [, pool, name] = /^([^/]+)\/(.+)$/u.exec(id) ?? []
  const byName = pool === undefined ? [] : [['vol-dumpxml', '--vol', name, '--pool', pool]]
  // Keys of some kinds of pools look like names.
  const byKey = [
    ['vol-pool', '--vol', id],
    ['vol-dumpxml', '--vol', id],
  ]
  const { answers, isMissing } = await askForVolumes(virsh, [...byName, ...byKey], asked)
  const outputOf = (answer: Answer) => virsh.outputOf(answer, asked.action)
  if (pool !== undefined && !isMissing(answers[0])) return readVolumeXml(outputOf(answers[0]), pool)
  const [keyedPool, keyed] = answers.slice(-2)
  return isMissing(keyed) ? undefined : readVolumeXml(outputOf(keyed), outputOf(keyedPool).trim())
}

/** What containers have for disks, by the one path it has without links. */
export async function findDirectory(virsh: VirshProcess, id: string): Promise<Volume | undefined> {
  const { code, stdout } = await virsh.run(['sh', '-c', 'cd -P -- "$1" && pwd -P', 'sh', id], TIMEOUT_MS)
  if (code !== 0) return undefined
  const path = stdout.toString().replace(/\n$/u, '')
  return { ...{ pool: '', name: path, key: path, path }, format: 'dir', capacityBytes: 0, allocationBytes: 0 }
}

export function createVolume(virsh: VirshProcess, volume: NewVolume): Promise<Volume> {
  const { pool, name } = volume
  const action = `create volume "${pool}/${name}"`
  return withFile(renderVolumeXml(volume), async (file) => {
    const create = ['vol-create', '--pool', pool, '--file', file]
    const show = ['vol-dumpxml', '--vol', name, '--pool', pool]
    const [created, shown] = await virsh.ask([create, show], { action, timeoutMs: TIMEOUT_MS })
    virsh.outputOf(created, action)
    return readVolumeXml(virsh.outputOf(shown, action), pool)
  })
}

/** Holes of the file are written as zeros: what libvirt skips would keep what the volume had there before. */
export async function uploadVolume(virsh: VirshProcess, volume: Volume, file: string): Promise<void> {
  const { pool, name, capacityBytes } = volume
  const command = ['vol-upload', '--vol', name, '--file', file, '--pool', pool]
  const action = `upload "${file}" to volume "${pool}/${name}"`
  await virsh.tell(command, { action, timeoutMs: transferMs(capacityBytes) })
}

export async function downloadVolume(
  virsh: VirshProcess,
  { pool, name, capacityBytes }: Volume,
  file: string,
  part?: VolumePart,
): Promise<void> {
  const how = part === undefined ? ['--sparse'] : ['--offset', String(part.offset), '--length', String(part.length)]
  const command = ['vol-download', '--vol', name, '--file', file, '--pool', pool, ...how]
  const timeoutMs = transferMs(part?.length ?? capacityBytes)
  await virsh.tell(command, { action: `download volume "${pool}/${name}"`, timeoutMs })
}

function transferMs(bytes: number): number {
  return Math.min(LONGEST_TRANSFER_MS, TIMEOUT_MS + bytes / SLOWEST_BYTES_PER_MS)
}

/** One that is gone already is none to be deleted. */
export async function deleteVolume(virsh: VirshProcess, { pool, name }: Volume): Promise<void> {
  const action = `delete volume "${pool}/${name}"`
  const of = ['--vol', name, '--pool', pool]
  const commands = [
    ['vol-delete', ...of],
    ['vol-dumpxml', ...of],
  ]
  const { answers, isMissing } = await askForVolumes(virsh, commands, { action, timeoutMs: TIMEOUT_MS })
  const [deleted, after] = answers
  if ('failure' in deleted && !isMissing(after)) throw virshError(action, virsh.uri, deleted.failure)
}
