// Building an image: the list of packages, then the base, then what was asked for. Each of them has a hash of all that
// decides it, and what is there already under that hash is not made again.
//
//   list ─▶ base-HASH.tar ─▶ directory ─▶ HASH.qcow2, tar or directory
//           packages, recipe    + our program

import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { HoldfastError } from '../lib/errors.ts'
import { programHash } from '../targets/libvirt/program-volume.ts'
import { type Archive, openArchive } from './archive.ts'
import { makeBase } from './base.ts'
import type { Build } from './build-step.ts'
import { checkTools } from './build-tools.ts'
import { checkPlace, deliverDisk, deliverRoot, findDelivered } from './deliver.ts'
import { makeDisk } from './disk.ts'
import { hashOf, type Image, type Place } from './image.ts'
import { withLock } from './lock.ts'
import { moveIntoPlace } from './move-into-place.ts'
import { checkPackages, choosePackages, type PackageList } from './package-list.ts'
import { isPlain, recipeText, wantedPackages } from './recipe.ts'
import { AFTER_PACKAGES, BEFORE_PACKAGES } from './recipe-scripts.ts'
import { makeRoot } from './root-directory.ts'
import type { ImageStore } from './store.ts'

export interface ImageRequest extends Place {
  /** Of a build before: the same packages again. */
  readonly list: PackageList | undefined
  /** Without services, and nothing of ours. */
  readonly plain: boolean
  readonly morePackages: readonly string[]
  readonly withProgram: boolean
}

export interface BuildOptions extends Pick<Build, 'env' | 'signal' | 'onProgress'> {
  readonly store: ImageStore
}

export interface BuiltImage {
  readonly image: Image
  readonly path: string
  /** What had to be done for it. */
  readonly state: 'built' | 'known' | 'in place'
}

/** The one whose disks a BIOS starts. */
const ARCHITECTURE = 'amd64'

export async function buildImage(request: ImageRequest, options: BuildOptions): Promise<BuiltImage> {
  const { store, signal, onProgress } = options
  await checkTools(request.format, signal)
  const onWait = () => onProgress('waiting for another build to end')
  return withLock(store.directory, { signal, onWait }, async () => {
    checkPlace(request)
    const directory = store.makeBuildDirectory()
    const log = join(store.directory, 'build.log')
    rmSync(log, { force: true })
    try {
      const built = await buildIn({ ...options, directory, log }, request, store)
      rmSync(log, { force: true })
      return built
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
}

async function buildIn(build: Build, request: ImageRequest, store: ImageStore): Promise<BuiltImage> {
  const archive = await openArchive(build, join(store.directory, 'apt'))
  const list = await listOf(build, archive, request)
  const baseHash = hashOf([recipeText(), BEFORE_PACKAGES, AFTER_PACKAGES, archive.sources, list.packages])
  const program = request.withProgram ? programHash() : null
  const hash = hashOf([baseHash, program])
  const delivered = findDelivered(request, hash)
  if (delivered !== undefined) return { ...delivered, state: 'in place' }
  const known = request.format === 'qcow2' ? store.find(hash) : undefined
  if (known !== undefined) return { ...(await deliverDisk(store, known, request.output)), state: 'known' }

  const base = store.basePathOf(baseHash)
  if (!existsSync(base)) {
    build.onProgress(`${Object.keys(list.packages).length} packages of ${list.suite}`)
    const made = join(build.directory, 'base.tar')
    await makeBase(build, archive, list, made)
    await moveIntoPlace(made, base)
  }
  build.onProgress('unpacking the root file system')
  const root = join(build.directory, 'root')
  await makeRoot(build, base, root, request.withProgram)
  const about = { name: nameOf(list), hash, program, ...list, created: new Date().toISOString() }
  if (request.format !== 'qcow2') return { ...(await deliverRoot(build, root, about, request)), state: 'built' }
  build.onProgress('writing the disk')
  const disk = join(build.directory, 'disk.qcow2')
  await makeDisk(build, root, disk)
  const image = { ...about, sizeBytes: statSync(disk).size }
  await moveIntoPlace(disk, store.pathOf(hash))
  await store.save(image)
  return { ...(await deliverDisk(store, image, request.output)), state: 'built' }
}

async function listOf(build: Build, archive: Archive, request: ImageRequest): Promise<PackageList> {
  const { suite, architecture } = archive
  if (architecture !== ARCHITECTURE)
    throw new HoldfastError(
      'ImageArchitecture',
      `Cannot build an image for ${architecture}: its disks are started by a BIOS; expected a host with ${ARCHITECTURE}`,
    )
  const { list, plain, morePackages } = request
  if (list === undefined) return choosePackages(build, archive, wantedPackages(plain, morePackages))
  if (list.suite !== suite || list.architecture !== architecture)
    throw new HoldfastError(
      'ImageListInvalid',
      `Cannot build from the list: it is of ${list.suite} (${list.architecture}); this host has ${suite} (${architecture})`,
    )
  await checkPackages(build, archive, list)
  return list
}

function nameOf({ suite, architecture, packages }: PackageList): string {
  return `${suite}-${architecture}${isPlain(packages) ? '-plain' : ''}`
}
