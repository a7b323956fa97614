// Which packages an image has, with their versions: apt chooses them once, and from then on the list alone decides. It is
// written beside the image, and can be given to a build again.

import { z } from 'zod'
import { HoldfastError } from '../lib/errors.ts'
import type { Archive } from './archive.ts'
import { type Build, readStep } from './build-step.ts'

export interface PackageList {
  readonly suite: string
  readonly architecture: string
  /** Versions by name. */
  readonly packages: Readonly<Record<string, string>>
}

const schema = z.object({
  suite: z.string(),
  architecture: z.string(),
  packages: z.record(z.string().regex(/^[a-z0-9][a-z0-9+.-]+$/u), z.string().regex(/^[\w.+:~-]+$/u)),
})

const INSTALLED = /^Inst (?<name>[^ :]+)\S* \((?<version>\S+) /u

/** Everything that comes with them, too: a system that holds them and apt. */
export async function choosePackages(build: Build, archive: Archive, wanted: readonly string[]): Promise<PackageList> {
  const { suite, architecture } = archive
  const packages = await simulate(build, archive, ['?essential', 'apt', ...wanted])
  return { suite, architecture, packages }
}

/** The archive must still have every one of them, in that version, and they must need nothing more. */
export async function checkPackages(build: Build, archive: Archive, list: PackageList): Promise<void> {
  const chosen = await simulate(build, archive, pinned(list))
  const more = Object.keys(chosen).filter((name) => list.packages[name] === undefined)
  if (more.length > 0)
    throw new HoldfastError(
      'ImageListInvalid',
      `Cannot build from the list: its packages need more, such as "${more[0]}"; expected a list that a build has written`,
    )
}

/** `name=version`, as apt takes it. */
export function pinned({ packages }: PackageList): string[] {
  return Object.entries(packages).map(([name, version]) => `${name}=${version}`)
}

export function parsePackageList(text: string, file: string): PackageList {
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw new HoldfastError(
      'ImageListInvalid',
      `Cannot read the list of packages "${file}": it is not one; expected the .json beside an image`,
      { cause: error },
    )
  }
}

/** Of the output of a simulated apt-get install: versions by name, in the order of names. */
export function parseInstalled(output: string): Record<string, string> {
  const found = output.split('\n').flatMap((line) => {
    const { name, version } = INSTALLED.exec(line)?.groups ?? {}
    return name === undefined ? [] : [[name, version] as const]
  })
  return Object.fromEntries(found.toSorted(([left], [right]) => (left < right ? -1 : 1)))
}

async function simulate(
  build: Build,
  { settings }: Archive,
  words: readonly string[],
): Promise<Record<string, string>> {
  return parseInstalled(await readStep(build, ['apt-get', 'install', '--simulate', '--quiet', ...settings, ...words]))
}
