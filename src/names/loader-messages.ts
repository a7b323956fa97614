// What passes between the loading thread and the main thread.

import type { MessagePort } from 'node:worker_threads'
import type { AutoConfig, FileConfig } from '../server/config.ts'

export interface LoaderData {
  readonly control: SharedArrayBuffer
  /** One port for each reader there is from the start; each gets every arena. */
  readonly readers: readonly MessagePort[]
  readonly spaces: readonly LoaderSpace[]
  /** Refuse zones without NS at the apex. */
  readonly requireNs: boolean
}

/** A set of zones, for one server block or several. */
export interface LoaderSpace {
  readonly space: number
  readonly autos: readonly AutoConfig[]
  readonly files: readonly FileConfig[]
}

/** A reader that came later; it gets the arena of the moment and every later one. */
export interface NewReader {
  readonly port: MessagePort
}

export type LoaderReport =
  | {
      readonly kind: 'zone'
      readonly space: number
      readonly origin: string
      readonly slot: number
      readonly plugin: string
      readonly file: string
      readonly serial: number
      readonly serialChanged: boolean
      readonly records: number
      readonly warnings: readonly string[]
      readonly milliseconds: number
      readonly arenaUsedBytes: number
      readonly arenaBytes: number
    }
  | {
      readonly kind: 'refused'
      readonly space: number
      readonly origin: string
      readonly slot: number
      readonly file: string
      readonly errors: readonly string[]
      /** Serial of the version that stays in service; undefined when there is none. */
      readonly keptSerial: number | undefined
    }
  | {
      readonly kind: 'gone'
      readonly space: number
      readonly origin: string
      readonly arenaUsedBytes: number
      readonly arenaBytes: number
    }
  | { readonly kind: 'problem'; readonly message: string }
  /** A directory that could not be read at the start: nobody knows which zones are in it. */
  | { readonly kind: 'unreadable'; readonly path: string }
  /** Every source has been scanned once. */
  | { readonly kind: 'ready'; readonly milliseconds: number }
