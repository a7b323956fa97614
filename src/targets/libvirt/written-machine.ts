// What writing a machine comes to, as data: the files of its cloud-init volume, what its guest is asked to change, and who has
// to read what changed. `before` is the machine as it was written last, read from the volume.

import { createHash } from 'node:crypto'
import { Secret } from '../../lib/secret.ts'
import { reveal } from '../../machine/content.ts'
import type { Machine, MachineFile, Service } from '../../machine/machine.ts'
import type { ExistingMachine, HardwareChange } from '../target.ts'
import { APPLY_PATH, APPLY_PROGRAM, type ApplyRequest } from './cloud-init/apply-program.ts'
import { renderCloudInit } from './cloud-init/cloud-init.ts'
import { ownFiles } from './cloud-init/own-files.ts'
import { ORPHAN_RECORD, SEED_RECORD, seedJson, type WrittenMachine } from './cloud-init/seed-record.ts'
import { renderUnits } from './cloud-init/units.ts'
import { ownFile } from './cloud-init/written-file.ts'
import { hardwareOf, passwordChange } from './hardware-changes.ts'
import type { MachineRecord } from './machine-record.ts'
import { formatRecord } from './record-xml.ts'
import type { Placement } from './placement.ts'
import type { SeedFiles } from './seed-volume.ts'

export type Pending = NonNullable<MachineRecord['pending']>

/** Files that are left alone once they are there stay as they were written first. */
export function withInitialFiles(machine: Machine, before: ExistingMachine | undefined): Machine {
  const files = machine.files.map((file) => {
    const text = file.isInitial === true ? before?.files.get(file.path)?.text : undefined
    return text === undefined ? file : { ...file, content: [new Secret(text)] }
  })
  return { ...machine, files }
}

export function seedFiles(machine: Machine, placement: Placement): SeedFiles {
  const { userData, metaData, networkConfig } = renderCloudInit(machine, placement)
  return new Map([
    ['user-data', reveal(userData)],
    ['meta-data', metaData],
    ['network-config', networkConfig],
    [SEED_RECORD, seedJson(machine, setupDigest(machine, placement))],
    [ORPHAN_RECORD, formatRecord(recordOf(machine, placement))],
  ])
}

/** A new version of Holdfast may set machines up in another way, whatever runs in them: with the services they have now, it is seen. */
export function setupChange(
  machine: Machine,
  placement: Placement,
  written: WrittenMachine | undefined,
): readonly HardwareChange[] {
  if (written === undefined) return []
  const now = setupDigest({ ...machine, services: written.services }, placement)
  if (now === written.setup) return []
  const why = 'units and scripts of this version of Holdfast: services start with them the next time'
  return [{ name: 'setup', from: written.setup, to: now, takes: 'live', why }]
}

/** Sources of packages are told by themselves. */
function setupDigest(machine: Machine, placement: Placement): string {
  const files = ownFiles({ ...machine, packageSources: [] }, placement)
  const texts = [APPLY_PROGRAM, ...files.map(({ content }) => reveal(content)), renderUnits(machine, placement)]
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 8)
}

/** As it is before anything was made of it. */
export function recordOf(machine: Machine, placement: Placement): MachineRecord {
  const { stack, stackId, instanceId, disks } = placement
  const { name, kind, address } = machine
  return {
    stack,
    ...(stackId !== undefined && { stackId }),
    ...{ machine: name, kind, address, instanceId },
    ...{ seedDigest: '', disks, hardware: hardwareOf(machine, placement) },
  }
}

/** All that the machine has: what it has already stays as it is. Services are neither started nor stopped by it. */
export function applyRequest(
  machine: Machine,
  placement: Placement,
  before: WrittenMachine | undefined,
  { leftovers = [] }: Pick<MachineRecord, 'leftovers'>,
): ApplyRequest & Required<Pick<ApplyRequest, 'remove'>> {
  const files: readonly Omit<MachineFile, 'onChange'>[] = [
    ...machine.files,
    ...ownFiles(machine, placement),
    ownFile(APPLY_PATH, APPLY_PROGRAM),
  ]
  const kept = new Set([...files, ...machine.directories].map(({ path }) => path))
  const gone = [...leftovers, ...(before?.files.keys() ?? []), ...emptied(before)].filter((path) => !kept.has(path))
  return {
    directories: machine.directories.map(({ path, owner, mode }) => ({ path, owner, mode })),
    files: files.map(({ path, owner, mode, content, isInitial = false }) => ({
      ...{ path, owner, mode, isInitial },
      text: reveal(content),
    })),
    remove: [...new Set(gone)],
    units: renderUnits(machine, placement),
    ...passwordRequest(machine, before),
  }
}

/** What somebody set by hand stays, as long as the stack file says the same. */
function passwordRequest(machine: Machine, before: WrittenMachine | undefined): Pick<ApplyRequest, 'password'> {
  const { sshAdminUser, adminUserPassword } = machine.hardware
  if (before !== undefined && passwordChange(machine, before).length === 0) return {}
  return { password: { user: sshAdminUser, text: adminUserPassword?.reveal() ?? null } }
}

/** What is inside first. */
function emptied(before: ExistingMachine | undefined): string[] {
  const paths = [...(before?.directories ?? [])].filter(([, { isData }]) => !isData).map(([path]) => path)
  return paths.toSorted().toReversed()
}

/** Services that run and have to read what differs now; a restart is a reload, too. */
export function pendingAfter(
  machine: Machine,
  before: ExistingMachine | undefined,
  { pending = {}, started = [] }: Pick<MachineRecord, 'pending' | 'started'>,
): Pending {
  const after: Record<string, 'reload' | 'restart'> = { ...pending }
  for (const { path, content, onChange } of machine.files) {
    if (onChange === 'nothing' || before?.files.get(path)?.text === reveal(content)) continue
    if ('restart' in onChange) after[onChange.restart] = 'restart'
    else after[onChange.reload] ??= 'reload'
  }
  const names = new Set(started.map(({ name }: Service) => name))
  return Object.fromEntries(Object.entries(after).filter(([name]) => names.has(name)))
}

export function withoutPending(pending: Pending | undefined, services: readonly string[]): Pending {
  return Object.fromEntries(Object.entries(pending ?? {}).filter(([name]) => !services.includes(name)))
}
