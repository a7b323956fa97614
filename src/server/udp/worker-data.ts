// What the main thread gives a UDP worker, and what a worker sends back.

import type { MessagePort } from 'node:worker_threads'
import type { View } from '../../zone/query.ts'
import type { LogConfig } from '../config.ts'
import type { LogPiece } from '../query-log/carrier.ts'
import type { SavedPacket } from './batch.ts'

export interface UdpWorkerData {
  /** This worker's place in the control block. */
  readonly reader: number
  readonly control: SharedArrayBuffer
  /** New arenas arrive here; read when the generation has moved on. */
  readonly arenas: MessagePort
  readonly sockets: readonly UdpSocketData[]
  /** By block; undefined where nobody reads the counters. */
  readonly stats: readonly (SharedArrayBuffer | undefined)[]
  readonly logFlow: SharedArrayBuffer
  readonly logs: readonly (readonly LogConfig[])[]
  readonly cookieSecret: Uint8Array
  readonly handoverGate: SharedArrayBuffer
}

export interface UdpSocketData {
  readonly fd: number
  readonly views: readonly View[]
  /** Bound to a wildcard address. */
  readonly wildcard: boolean
  readonly local: string
}

/** A query for the forwarders of the block with that number. */
export interface HandedPacket {
  readonly saved: SavedPacket
  readonly block: number
  /** One of HANDOVER. */
  readonly reason: number
  /** In the gate. */
  readonly place: number
}

export type UdpWorkerMessage =
  | { readonly kind: 'handover'; readonly socket: number; readonly packets: readonly HandedPacket[] }
  | { readonly kind: 'log'; readonly piece: LogPiece }
  | { readonly kind: 'failed'; readonly message: string }
