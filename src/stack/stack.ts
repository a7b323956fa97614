// A stack file, checked and resolved: every default filled in, every secret behind its type, every address known.

import type { DnsSpec } from '../clusters/dns/spec.ts'
import type { EtcdSpec } from '../clusters/etcd/spec.ts'
import type { PostgresSpec } from '../clusters/postgres/spec.ts'
import type { MachineSpec } from '../clusters/site.ts'
import type { Secret } from '../lib/secret.ts'

export type TargetName = 'local' | 'libvirt'

export interface Stack {
  readonly name: string
  /** Absolute path of the stack file. */
  readonly file: string
  readonly target: TargetName
  /** Of the stack's own zone, without the final dot. */
  readonly domain: string
  readonly etcd: EtcdSpec | undefined
  readonly dns: DnsSpec | undefined
  readonly postgres: PostgresSpec | undefined
  /** The user's own certificate authority; else one is made for the stack. */
  readonly authority: GivenAuthority | undefined
  /** What is allowed but worth a word, as `stack.yaml:3:7: …`. */
  readonly notices: readonly string[]
}

export interface GivenAuthority {
  readonly certificate: string
  readonly key: Secret
}

/** Every machine of the stack, by name and address. */
export function machineSpecs({ etcd, dns, postgres }: Stack): MachineSpec[] {
  return [
    ...(etcd?.members ?? []),
    ...(dns?.servers ?? []),
    ...(postgres?.members ?? []),
    ...(postgres?.haproxy?.servers ?? []),
  ]
}
