// A machine as it was written last, for a file on its cloud-init volume: what there is can be read back and compared, text
// by text, also of a machine that does not run.

import { Secret } from '../../../lib/secret.ts'
import { reveal } from '../../../machine/content.ts'
import type { Machine, MachineKind, Service } from '../../../machine/machine.ts'
import type { ExistingMachine } from '../../target.ts'

/** Of the file, beside user-data. */
export const SEED_RECORD = 'holdfast.json'
/** Of another one: what the metadata of the domain say, too. */
export const ORPHAN_RECORD = 'record.json'

/** As a machine was written last. */
export interface WrittenMachine extends ExistingMachine {
  /** Of the administrator, on the console. */
  readonly adminPassword: Secret | undefined
  /** Digest of what is not of its services but of its being a virtual machine: units, scripts. */
  readonly setup: string
}

interface SeedRecord {
  readonly name: string
  readonly kind: MachineKind
  readonly address: string
  readonly directories: readonly {
    readonly path: string
    readonly owner: string
    readonly mode: number
    readonly isData: boolean
  }[]
  readonly files: readonly {
    readonly path: string
    readonly owner: string
    readonly mode: number
    readonly text: string
  }[]
  readonly services: readonly Service[]
  readonly adminPassword?: string
  readonly setup: string
}

/** With its secrets: the volume is as secret as they are. */
export function seedJson(machine: Machine, setup: string): string {
  const { name, kind, address, services, hardware } = machine
  const adminPassword = hardware.adminUserPassword?.reveal()
  const record: SeedRecord = {
    ...{ name, kind, address, setup },
    directories: machine.directories.map(({ path, owner, mode, isData = false }) => ({ path, owner, mode, isData })),
    files: machine.files.map(({ path, owner, mode, content }) => ({ path, owner, mode, text: reveal(content) })),
    services,
    ...(adminPassword !== undefined && { adminPassword }),
  }
  return `${JSON.stringify(record, undefined, 1)}\n`
}

/** Undefined when it is not what we have written. */
export function readSeedJson(text: string): WrittenMachine | undefined {
  try {
    const { name, kind, address, directories, files, services, adminPassword, setup } = JSON.parse(text) as SeedRecord
    return {
      ...{ name, kind, address, services, setup },
      files: new Map(files.map(({ path, ...file }) => [path, file])),
      directories: new Map(directories.map(({ path, ...directory }) => [path, directory])),
      pending: new Map(),
      adminPassword: adminPassword === undefined ? undefined : new Secret(adminPassword),
    }
  } catch {
    return undefined
  }
}
