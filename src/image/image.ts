// What is known of an image: the .json beside it, which is also the list of packages that makes it again.

import { createHash } from 'node:crypto'
import type { PackageList } from './package-list.ts'

export const IMAGE_FORMATS = ['qcow2', 'tar', 'directory'] as const
export type ImageFormat = (typeof IMAGE_FORMATS)[number]

export interface Place {
  readonly format: ImageFormat
  /** Disks are in the store in any case; the other formats are only there, and have one. */
  readonly output: string | undefined
}

export interface Image extends PackageList {
  /** `bookworm-amd64`, `bookworm-amd64-plain` */
  readonly name: string
  /** Of all that decides what is in it. */
  readonly hash: string
  /** Of our own program in it; null when it has none. */
  readonly program: string | null
  readonly sizeBytes: number
  /** When it was built. */
  readonly created: string
}

/** Of anything that JSON can hold. */
export function hashOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)
}
