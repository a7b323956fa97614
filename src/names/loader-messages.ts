// What passes between the loading thread and the main thread.

import type { MessagePort } from 'node:worker_threads'
import type { EtcdOptions } from '../etcd/options.ts'
import type {
  AutoConfig,
  EtcdZonesConfig,
  FileConfig,
  PatroniConfig,
  PtrConfig,
  SkydnsConfig,
} from '../server/config.ts'
import type { KubernetesConfig, KubevirtConfig } from '../server/kubernetes-config.ts'
import type { SearchResult } from './skydns/search.ts'
import type { SourceState } from './sources/etcd-source.ts'

export interface LoaderData {
  readonly control: SharedArrayBuffer
  /** One port for each reader there is from the start; each gets every arena. */
  readonly readers: readonly MessagePort[]
  readonly spaces: readonly LoaderSpace[]
  /** Refuse zones without NS at the apex. */
  readonly requireNs: boolean
  /** How long zones are waited for that take long to read; those that come later answer SERVFAIL until then. */
  readonly patienceMs: number
  /** Where the last good state of the sources is kept; undefined: nowhere. */
  readonly stateDirectory: string | undefined
}

/** A configured source as it is handed to the thread: secrets are plain there. */
export type Revealed<T> = Omit<T, 'etcd'> & { readonly etcd: EtcdOptions }

/** A set of zones, for one server block or several. */
export interface LoaderSpace {
  readonly space: number
  readonly autos: readonly AutoConfig[]
  readonly files: readonly FileConfig[]
  readonly etcdZones: readonly Revealed<EtcdZonesConfig>[]
  readonly skydns: readonly Revealed<SkydnsConfig>[]
  readonly patronis: readonly Revealed<PatroniConfig>[]
  readonly kubevirts: readonly KubevirtConfig[]
  readonly kubernetes: readonly KubernetesConfig[]
  readonly ptr: PtrConfig | undefined
}

/** A reader that came later; it gets the arena of the moment and every later one. */
export interface NewReader {
  readonly kind: 'reader'
  readonly port: MessagePort
}

/** A question whose labels search (SkyDNS). */
export interface SearchRequest {
  readonly kind: 'search'
  readonly id: number
  readonly space: number
  readonly origin: string
  readonly name: Uint8Array
  readonly type: number
}

export type LoaderRequest = NewReader | SearchRequest

/** What a search has found. */
export interface SearchFound {
  readonly kind: 'found'
  readonly id: number
  readonly result: SearchResult | undefined
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
      /** What the text says; another one is served when the author forgot to raise it. */
      readonly writtenSerial: number
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
      readonly plugin: string
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
  /** A zone that gets its names from sources that have not been heard yet. */
  | {
      readonly kind: 'awaited'
      readonly space: number
      readonly origin: string
      readonly slot: number
      readonly plugin: string
    }
  /** Names of a zone have changed, since the last report of it. */
  | {
      readonly kind: 'names'
      readonly space: number
      readonly origin: string
      readonly slot: number
      readonly plugin: string
      /** Beside the names there is a text, in service or refused. */
      readonly hasText: boolean
      readonly serial: number
      readonly arenaUsedBytes: number
      readonly arenaBytes: number
    }
  /** How a source stands with etcd. */
  | (SourceState & {
      readonly kind: 'source'
      readonly space: number
      readonly type: string
      readonly name: string
      readonly prefix: string
      readonly endpoints: readonly string[]
    })
  | { readonly kind: 'problem'; readonly message: string }
  /** A directory that could not be read at the start: nobody knows which zones are in it. */
  | { readonly kind: 'unreadable'; readonly path: string }
  /** Every source has been scanned once, or waited for long enough: there is something to serve. */
  | { readonly kind: 'ready'; readonly milliseconds: number }
  /** Every zone that there was at the start has been read. */
  | { readonly kind: 'loaded'; readonly milliseconds: number }
