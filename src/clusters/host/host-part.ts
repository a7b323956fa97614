// One thing that a virtual machine gets besides its cluster's part, and how such things are put together.

import type { Content } from '../../machine/content.ts'
import type { Machine, MachineFile } from '../../machine/machine.ts'

export type HostPart = Partial<
  Pick<Machine, 'packages' | 'packageSources' | 'directories' | 'files' | 'services' | 'ports'>
>

/** The parts in order; a package or a directory that two of them want is there once. */
export function joinParts(parts: readonly HostPart[]): Required<HostPart> {
  const directories = parts.flatMap((part) => part.directories ?? [])
  return {
    packages: [...new Set(parts.flatMap((part) => part.packages ?? []))],
    packageSources: parts.flatMap((part) => part.packageSources ?? []),
    directories: directories.filter(({ path }, index) => directories.findIndex((each) => each.path === path) === index),
    files: parts.flatMap((part) => part.files ?? []),
    services: parts.flatMap((part) => part.services ?? []),
    ports: parts.flatMap((part) => part.ports ?? []),
  }
}

/** A file of root's that everybody may read, unless `options` say otherwise. */
export function hostFile(path: string, content: Content, options: Partial<MachineFile> = {}): MachineFile {
  return { path, owner: 'root', mode: 0o644, onChange: 'nothing', ...options, content }
}
