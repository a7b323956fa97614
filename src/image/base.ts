// The root file system of an image as a tar, without our own program: all that comes from packages and the recipe. It is
// what takes long, and the same for every format and every version of ours.

import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HoldfastError } from '../lib/errors.ts'
import type { Archive } from './archive.ts'
import { type Build, runStep } from './build-step.ts'
import { type PackageList, pinned } from './package-list.ts'
import { BOOTSTRAP_OPTIONS, FILES, MASKED_SERVICES, MASKED_UNITS } from './recipe.ts'
import { AFTER_PACKAGES, BEFORE_PACKAGES } from './recipe-scripts.ts'

/** What mmdebstrap says that it does, in our words. */
const STEPS: readonly (readonly [RegExp, string])[] = [
  [/^I: running apt-get update/u, 'fetching the lists of packages'],
  [/^I: downloading packages/u, 'downloading essential packages'],
  [/^I: installing essential/u, 'installing essential packages'],
  [/^I: installing remaining/u, 'downloading and installing the other packages'],
  [/^I: creating tarball/u, 'writing the root file system'],
]

/** Mounts and daemons that packages may leave end with them. */
const NAMESPACES = ['unshare', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child'] as const

export async function makeBase(build: Build, archive: Archive, list: PackageList, tar: string): Promise<void> {
  const overlay = join(build.directory, 'overlay')
  writeOverlay(overlay, list)
  // Machines get packages from the same archives.
  for (const key of archive.keys) copyFileSync(key, prepare(overlay, key))
  writeFileSync(join(build.directory, 'preferences'), preferences(list))
  const sources = join(build.directory, 'sources.list')
  writeFileSync(sources, `${archive.sources.join('\n')}\n`)
  const before = writeScript(join(build.directory, 'before-packages'), BEFORE_PACKAGES)
  const after = writeScript(join(build.directory, 'after-packages'), AFTER_PACKAGES)
  const command = [
    'mmdebstrap',
    ...BOOTSTRAP_OPTIONS,
    `--include=${pinned(list).join(' ')}`,
    // Versions of essential packages are decided by it.
    `--setup-hook=copy-in ${join(build.directory, 'preferences')} /etc/apt/preferences.d`,
    `--essential-hook=${before}`,
    `--customize-hook=${after}`,
    archive.suite,
    tar,
    sources,
  ]
  await runStep(build, command, {
    within: NAMESPACES,
    onLine: (line) => {
      const step = STEPS.find(([pattern]) => pattern.test(line))?.[1]
      if (step !== undefined) build.onProgress(step)
    },
  })
  checkInstalled(list, readFileSync(join(build.directory, 'installed'), 'utf8'))
}

function writeOverlay(directory: string, { packages }: PackageList): void {
  for (const [path, text] of Object.entries(FILES)) writeFileSync(prepare(directory, path), text)
  const services = Object.entries(MASKED_SERVICES).filter(([name]) => packages[name] !== undefined)
  for (const unit of [...MASKED_UNITS, ...services.map(([, unit]) => unit)])
    symlinkSync('/dev/null', prepare(directory, `/etc/systemd/system/${unit}`))
}

function prepare(directory: string, path: string): string {
  mkdirSync(join(directory, dirname(path)), { recursive: true })
  return join(directory, path)
}

function writeScript(path: string, text: string): string {
  writeFileSync(path, text)
  chmodSync(path, 0o755)
  return path
}

function preferences({ packages }: PackageList): string {
  return Object.entries(packages)
    .map(([name, version]) => `Package: ${name}\nPin: version ${version}\nPin-Priority: 1001\n`)
    .join('\n')
}

/** `installed` has a line `name version` for each. */
export function checkInstalled({ packages }: PackageList, installed: string): void {
  const wanted = new Set(Object.entries(packages).map(([name, version]) => `${name} ${version}`))
  const found = new Set(installed.split('\n').filter((line) => line !== ''))
  const [different] = wanted.symmetricDifference(found)
  if (different === undefined) return
  const state = wanted.has(different) ? 'was not installed' : 'was installed and is not in the list'
  throw new HoldfastError(
    'ImageBuildFailed',
    `Cannot build the image: ${different} ${state}; the archive may have changed meanwhile`,
    { retryable: true },
  )
}
