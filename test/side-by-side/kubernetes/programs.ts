// Both programs on one cluster, one round each, and the keys they leave in its etcd.

import { EtcdClient, prefixEnd } from '../../../src/etcd/client.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { decryptText, readAesKey } from '../../../src/names/endpoints/encryption.ts'
import { ExternalDns } from '../../support/external-dns.ts'
import { type HoldfastProcess, Sandbox } from '../../support/holdfast-process.ts'
import type { KubeCluster } from '../../support/kube-cluster.ts'
import { freePort } from '../../support/ports.ts'
import type { Pain } from './scenarios.ts'

export interface Settings {
  readonly flags: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface StoredKey {
  readonly value: string
  readonly modRevision: bigint
}

/** In the order of the keys, which do not have the prefix. */
export type StoredKeys = ReadonlyMap<string, StoredKey>

export class Programs {
  readonly cluster: KubeCluster
  readonly #etcd: EtcdClient
  readonly #sandbox = new Sandbox()

  constructor(cluster: KubeCluster) {
    this.cluster = cluster
    this.#etcd = new EtcdClient(cluster.etcd.options)
  }

  async close(): Promise<void> {
    this.#etcd.close()
    await this.#sandbox.close()
  }

  /** One round of ExternalDNS. */
  async externalDns({ flags, env = {} }: Settings, prefix: string): Promise<string> {
    return ExternalDns.once({ cluster: this.cluster, flags: [...flags, `--coredns-prefix=${prefix}`], env })
  }

  /** One round of ours. */
  async holdfast(settings: Settings, prefix: string): Promise<string> {
    const program = await this.startHoldfast(settings, prefix, '--once')
    const code = await program.ended()
    if (code !== 0) throw new Error(`holdfast ended with ${code}\n${program.output}`)
    return program.output
  }

  /** Runs until it is stopped. */
  startExternalDns({ flags, env = {} }: Settings, prefix: string): Promise<ExternalDns> {
    return ExternalDns.start({ cluster: this.cluster, flags: [...flags, `--coredns-prefix=${prefix}`], env })
  }

  /** Runs until it is stopped. */
  async startHoldfast({ flags, env = {} }: Settings, prefix: string, ...more: string[]): Promise<HoldfastProcess> {
    const { kubeconfig, etcd } = this.cluster
    const where = [`--kubeconfig=${kubeconfig}`, `--metrics-address=127.0.0.1:${await freePort()}`]
    const args = [
      'publish',
      'kubernetes',
      '--provider=coredns',
      ...where,
      `--coredns-prefix=${prefix}`,
      ...flags,
      ...more,
    ]
    return this.#sandbox.spawn(args, 'pipe', { ETCD_URLS: etcd.endpoints.join(','), ...env })
  }

  async stored(prefix: string): Promise<StoredKeys> {
    const { kvs } = await this.#etcd.range({ key: Buffer.from(prefix), rangeEnd: prefixEnd(Buffer.from(prefix)) })
    return new Map(
      kvs.map(({ key, value, modRevision }) => [
        Buffer.from(key).toString().slice(prefix.length),
        { value: Buffer.from(value).toString(), modRevision },
      ]),
    )
  }

  async put(key: string, value: string): Promise<void> {
    await this.#etcd.put(Buffer.from(key), Buffer.from(value))
  }

  async clear(prefix: string): Promise<void> {
    await this.cluster.etcd.etcdctl('del', '--prefix', prefix)
  }
}

interface Blind {
  readonly aesKey?: string | undefined
  readonly pain?: Pain | undefined
}

/** Keys and values, without what is random: the label of eight hex digits, and the nonce of an encrypted text. */
export function comparable(keys: StoredKeys, { aesKey, pain }: Blind): string[] {
  const lines = Array.from(keys, ([key, { value }]) => {
    const plain = aesKey === undefined ? value : decrypted(value, aesKey)
    return `${withoutLabel(key)} ${pain === 'chance' ? plain.replace(/external-dns.resource=[^"\\]+/u, '…') : plain}`
  })
  // Marks that a restless program has written twice are one.
  return (pain === 'restless' ? [...new Set(lines)] : lines).toSorted()
}

function decrypted(value: string, aesKey: string): string {
  const { text, ...rest } = JSON.parse(value) as { text?: string }
  const plain = text === undefined ? undefined : decryptText(text.slice(1, -1), readAesKey(new Secret(aesKey)))
  return plain === undefined ? value : JSON.stringify({ decrypted: plain, ...rest })
}

/** What can be asked for in DNS, marks aside. */
export function hosts(keys: StoredKeys): string[] {
  const all = [...keys].filter(([, { value }]) => !value.includes('heritage=') && value.includes('"host"'))
  return all.map(([key, { value }]) => `${withoutLabel(key)} ${value}`).toSorted()
}

/** Keys that are not in both, or not at the same revision. */
export function touched(before: StoredKeys, after: StoredKeys): string[] {
  const all = new Set([...before.keys(), ...after.keys()])
  return [...all].filter((key) => before.get(key)?.modRevision !== after.get(key)?.modRevision).toSorted()
}

/** Keys as the names they stand for. */
export function namesOf(keys: readonly string[]): string[] {
  return [...new Set(keys.map(withoutLabel))].toSorted()
}

/** Names that have other values than before, however they came to have them. */
export function changedNames(before: StoredKeys, after: StoredKeys): string[] {
  const valuesOf = (keys: StoredKeys, name: string) =>
    [...keys].flatMap(([key, { value }]) => (withoutLabel(key) === name ? [value] : [])).toSorted()
  const isChanged = (name: string) => String(valuesOf(before, name)) !== String(valuesOf(after, name))
  return namesOf([...before.keys(), ...after.keys()]).filter(isChanged)
}

function withoutLabel(key: string): string {
  return key.replace(/\/[0-9a-f]{8}$/u, '/*')
}
