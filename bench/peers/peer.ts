// What the runner must know of a server that is compared.

import type { Command } from '../processes.ts'
import type { ZoneSet } from '../zones.ts'

export interface Setup {
  readonly zones: ZoneSet
  /** An empty directory of the server's own. */
  readonly directory: string
  readonly port: number
  readonly workers: number
}

export interface Peer {
  readonly title: string
  /** The settings that matter, for the document. */
  readonly settings: string
  /** The program to run, or undefined where it is not to be had (having said why on standard error). */
  locate(): Promise<string | undefined>
  version(program: string): Promise<string>
  /** Writes the configuration; returns how to run the server in the foreground. */
  prepare(program: string, setup: Setup): Promise<Command>
}
