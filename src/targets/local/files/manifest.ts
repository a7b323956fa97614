// What a machine was made of, without its secrets: what to remove when it has it no longer, where its data is, and
// which versions of its files each service has to have read.

import { createHash } from 'node:crypto'
import { reveal } from '../../../machine/content.ts'
import type { Machine, MachineKind, Service } from '../../../machine/machine.ts'
import { isRecord, loadState, saveState, stateFile } from '../state-file.ts'
import type { Layout } from '../layout.ts'

export interface Manifest {
  readonly machine: string
  readonly kind: MachineKind
  readonly address: string
  readonly directories: readonly { readonly path: string; readonly owner: string; readonly isData: boolean }[]
  readonly files: readonly { readonly path: string; readonly owner: string }[]
  readonly services: readonly MadeService[]
}

export interface MadeService {
  readonly service: Service
  readonly digests: FileDigests
}

/** Of the files that ask for a restart or a reload of a service when they change. */
export interface FileDigests {
  readonly restart: string
  readonly reload: string
}

export function manifestOf(machine: Machine): Manifest {
  return {
    machine: machine.name,
    kind: machine.kind,
    address: machine.address,
    directories: machine.directories.map(({ path, owner, isData = false }) => ({ path, owner, isData })),
    files: machine.files.map(({ path, owner }) => ({ path, owner })),
    services: machine.services.map((service) => ({ service, digests: digestsFor(machine, service.name) })),
  }
}

/** While one becomes the other: either's files may be there, and services have to read what the new one has. */
export function union(before: Manifest, after: Manifest): Manifest {
  const others = <T extends { readonly path: string }>(old: readonly T[], now: readonly T[]) => [
    ...now,
    ...old.filter(({ path }) => !now.some((each) => each.path === path)),
  ]
  return {
    ...after,
    directories: others(before.directories, after.directories),
    files: others(before.files, after.files),
  }
}

export function loadManifest({ manifests }: Layout, machine: string): Manifest | undefined {
  return loadState(stateFile(manifests, machine), isManifest)
}

export function saveManifest({ manifests }: Layout, manifest: Manifest): void {
  saveState(stateFile(manifests, manifest.machine), manifest, { isDurable: true })
}

function digestsFor({ files }: Machine, service: string): FileDigests {
  const digest = (how: 'restart' | 'reload') => {
    const hash = createHash('sha256')
    for (const { path, content, onChange, isInitial = false } of files) {
      const isMeant = onChange !== 'nothing' && how in onChange && Object.values(onChange)[0] === service
      // What is left alone once it is there changes nothing.
      if (isMeant && !isInitial) hash.update(JSON.stringify([path, reveal(content)]))
    }
    return hash.digest('base64url')
  }
  return { restart: digest('restart'), reload: digest('reload') }
}

function isManifest(value: unknown): value is Manifest {
  return (
    isRecord(value) &&
    typeof value.machine === 'string' &&
    typeof value.kind === 'string' &&
    typeof value.address === 'string' &&
    [value.directories, value.files].every(
      (list) => Array.isArray(list) && list.every((each) => isRecord(each) && typeof each.path === 'string'),
    ) &&
    Array.isArray(value.services) &&
    value.services.every((each) => isRecord(each) && isRecord(each.service) && isRecord(each.digests))
  )
}
