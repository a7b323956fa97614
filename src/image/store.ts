// Where images are kept: HASH.qcow2, and HASH.json beside it, which comes last: an image without it is none. Root file systems
// that images are made from (base-HASH.tar) and apt's lists are kept there too, to be faster the next time.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../lib/atomic-file.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { Image } from './image.ts'

const UNFINISHED = '.build-'
const INFO = /^[0-9a-f]{16}\.json$/u
const BASE = /^base-[0-9a-f]{16}\.tar$/u

export class ImageStore {
  readonly directory: string

  constructor(directory: string) {
    this.directory = directory
  }

  pathOf(hash: string): string {
    return join(this.directory, `${hash}.qcow2`)
  }

  basePathOf(hash: string): string {
    return join(this.directory, `base-${hash}.tar`)
  }

  /** Undefined when there is none. */
  find(hash: string): Image | undefined {
    return this.list().find((image) => image.hash === hash)
  }

  /** The newest first. */
  list(): readonly Image[] {
    return this.#names()
      .filter((name) => INFO.test(name))
      .map((name) => JSON.parse(readFileSync(join(this.directory, name), 'utf8')) as Image)
      .filter(({ hash }) => existsSync(this.pathOf(hash)))
      .toSorted((left, right) => (left.created < right.created ? 1 : -1))
  }

  save(image: Image): Promise<void> {
    return replaceFile(join(this.directory, `${image.hash}.json`), formatImage(image), 0o644)
  }

  /** By name, hash or the beginning of a hash. Rejects when it is not clear which is meant, unless all of them are. */
  select(which: string, all: boolean): readonly Image[] {
    const images = this.list()
    const found = images.filter(({ name, hash }) => name === which || (which.length >= 4 && hash.startsWith(which)))
    if (found.length === 0)
      throw new HoldfastError(
        'ImageUnknown',
        `Cannot find the image "${which}": none in ${this.directory} has that name or hash; "holdfast image ls" lists them`,
      )
    if (found.length > 1 && !all)
      throw new HoldfastError(
        'ImageUnknown',
        `Cannot tell which image "${which}" is: ${found.map(({ hash }) => hash).join(', ')} are there; expected a hash or --all`,
      )
    return found
  }

  remove({ hash }: Pick<Image, 'hash'>): void {
    for (const path of [join(this.directory, `${hash}.json`), this.pathOf(hash)]) rmSync(path, { force: true })
  }

  /** What only makes the next build faster. */
  removeBases(): void {
    for (const name of this.#names())
      if (BASE.test(name) || name === 'apt') rmSync(join(this.directory, name), { recursive: true })
  }

  /** For one build; what builds that were killed have left is removed. Only for whoever has the lock. */
  makeBuildDirectory(): string {
    for (const name of this.#names())
      if (name.startsWith(UNFINISHED)) rmSync(join(this.directory, name), { recursive: true, force: true })
    return mkdtempSync(join(this.directory, UNFINISHED))
  }

  #names(): string[] {
    return existsSync(this.directory) ? readdirSync(this.directory) : []
  }
}

export function formatImage(image: Image): string {
  return `${JSON.stringify(image, undefined, 2)}\n`
}
