// What a machine is: plain data. A kind of cluster makes machines from its part of the stack file, a target makes them
// real. Paths are those inside the machine; where a file's content names one, it went through `Site.path`.

import type { Content } from './content.ts'
import type { Hardware } from './hardware.ts'

export type MachineKind = 'etcd' | 'dns' | 'postgres' | 'haproxy'

export interface Machine {
  /** Unique in the stack; the host name, too. */
  readonly name: string
  readonly kind: MachineKind
  /** The address its services are reached at. */
  readonly address: string
  readonly hardware: Hardware
  /** Debian packages its services come from. */
  readonly packages: readonly string[]
  /** Where packages come from that Debian does not have. */
  readonly packageSources?: readonly PackageSource[]
  /** In the order they have to be made. */
  readonly directories: readonly MachineDirectory[]
  readonly files: readonly MachineFile[]
  /** In start order; stopped in the opposite one. */
  readonly services: readonly Service[]
  /** What its services listen on, at `address`. */
  readonly ports: readonly Port[]
}

/** A source of packages of somebody's own. */
export interface PackageSource {
  /** Of its file. */
  readonly name: string
  /** A line as sources.list has it; `$KEY_FILE` in it stands for the file with the key. */
  readonly source: string
  /** That signs it: an OpenPGP public key, ASCII-armored. */
  readonly key: string
}

export interface MachineDirectory {
  readonly path: string
  readonly owner: string
  readonly mode: number
  /** Holds data that `down --keep-data` keeps. */
  readonly isData?: boolean
}

export interface MachineFile {
  readonly path: string
  readonly owner: string
  readonly mode: number
  readonly content: Content
  /** What a change of it asks for. */
  readonly onChange: OnChange
  /** Written when it is not there, and left alone from then on: only the first start reads it. */
  readonly isInitial?: boolean
}

/** Nothing (it is read when needed, or watched), or the service that must read it again, by a reload or a restart. */
export type OnChange = 'nothing' | { readonly reload: string } | { readonly restart: string }

/** A process that runs as long as the machine does, or (`once`) until it has succeeded. */
export interface Service {
  readonly name: string
  readonly user: string
  /** The program and its arguments; no secrets. */
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Files of the machine with lines `NAME=value`, read at each start. */
  readonly environmentFiles?: readonly string[]
  /**
   * A step to do once: after the services before it in the list have started, tried again until it ends with 0, and done again when its
   * command or one of the files that say `restart` of it have changed. It must be idempotent.
   */
  readonly once?: boolean
  /** Reads its files again on this signal. */
  readonly reloadSignal?: 'SIGHUP'
  readonly stopSignal: 'SIGTERM' | 'SIGINT'
  /** Then it is killed. */
  readonly stopTimeoutMs: number
  /** Of the machine itself and not of its cluster (metrics, logs, the clock): it runs with or without the cluster's data. */
  readonly isOfHost?: true
  /** May listen on ports below 1024. */
  readonly bindsLowPorts?: boolean
}

export interface Port {
  readonly port: number
  readonly protocol: 'tcp' | 'udp'
  /** For messages: `DNS`, `etcd clients`. */
  readonly purpose: string
}
