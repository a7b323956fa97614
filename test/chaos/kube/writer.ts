// Changes objects, one after the other, and sees to it that each change is made: what got lost with an API server that was
// killed is looked up, and written again if it is not there.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../fuzz/random.ts'
import type { KubeCluster } from '../../support/kube-cluster.ts'
import type { History } from './history.ts'
import {
  collectionPath,
  HOSTS,
  hostObject,
  machine,
  machineNames,
  machineStatus,
  objectPath,
  SEQ,
  STEADY,
  steadyHost,
  type Subject,
  SUBJECTS,
} from './world.ts'

/** What can be read of any object. */
interface Found {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  readonly status?: { readonly seq?: string }
}

const RETRY_MS = 200
const PAUSE_MS = [20, 200] as const
const INTERFACES = ['nic1', 'nic2'] as const

export class Writer {
  readonly #cluster: KubeCluster
  readonly #history: History
  readonly #random: Random
  readonly #signal: AbortSignal
  /** Objects that there are, with their hosts; machines have none. */
  readonly #present = new Map<Subject, readonly string[]>()

  constructor(cluster: KubeCluster, history: History, random: Random, signal: AbortSignal) {
    this.#cluster = cluster
    this.#history = history
    this.#random = random
    this.#signal = signal
  }

  /** Everything that is there from the start. */
  async prepare(): Promise<void> {
    const rest = STEADY.values()
    const lane = async () => {
      for (const subject of rest) await this.#putHosts(subject, [steadyHost(subject)])
    }
    await Promise.all(Array.from({ length: 8 }, lane))
    for (const subject of SUBJECTS) await this.#create(subject)
  }

  /** Until the signal of this time says otherwise. */
  async run(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await this.#change(this.#random.pick(SUBJECTS))
      await sleep(this.#random.between(...PAUSE_MS), undefined, { signal: until }).catch(() => undefined)
    }
  }

  async #change(subject: Subject): Promise<void> {
    const hosts = this.#present.get(subject)
    if (hosts === undefined) return this.#create(subject)
    if (this.#random.chance(0.15)) return this.#delete(subject)
    if (subject.kind === 'vmi') return this.#report(subject)
    if (this.#random.chance(0.2)) return this.#move(subject, hosts)
    return this.#putHosts(subject, this.#random.chance(0.5) ? hosts : this.#someHosts(), !this.#random.chance(0.1))
  }

  async #create(subject: Subject): Promise<void> {
    if (subject.kind !== 'vmi') return this.#putHosts(subject, this.#someHosts())
    await this.#write(subject, new Map(), () => this.#request('POST', collectionPath(subject), machine(subject)))
    this.#present.set(subject, [])
    return this.#report(subject)
  }

  /** A host goes over to another object, which has it before or only after this one has lost it. */
  async #move(subject: Subject, hosts: readonly string[]): Promise<void> {
    const others = SUBJECTS.filter((each) => each !== subject && (this.#present.get(each) ?? []).length > 0)
    if (others.length === 0 || hosts.length < 2) return
    const other = this.#random.pick(others)
    const [host, ...rest] = hosts
    const give = () => this.#putHosts(other, [...new Set([...(this.#present.get(other) ?? []), host])])
    if (this.#random.chance(0.7)) await give()
    await this.#putHosts(subject, rest)
    if (!this.#present.get(other)?.includes(host)) await give()
  }

  /** Without a target it has no names. */
  async #putHosts(subject: Subject, hosts: readonly string[], hasTarget = true): Promise<void> {
    const target = hasTarget ? this.#history.freshAddress() : null
    const addresses = new Map(target === null ? [] : hosts.map((host) => [host, target] as const))
    const isNew = !this.#present.has(subject)
    await this.#write(subject, addresses, (seq) => {
      const object = hostObject(subject, seq, hosts, target)
      return isNew
        ? this.#request('POST', collectionPath(subject), object)
        : this.#request('PATCH', objectPath(subject), object)
    })
    this.#present.set(subject, hosts)
  }

  /** A machine has other addresses, perhaps another interface, perhaps none. */
  async #report(subject: Subject): Promise<void> {
    const count = this.#random.pick([0, 1, 1, 2, 2])
    const interfaces = new Map(INTERFACES.slice(0, count).map((name) => [name, this.#history.freshAddress()] as const))
    const names = machineNames(subject, [...interfaces.keys()])
    const [first = ''] = interfaces.values()
    const addresses = new Map(count === 0 ? [] : names.map((name, i) => [name, [first, ...interfaces.values()][i]]))
    await this.#write(subject, addresses, (seq) =>
      this.#request('PATCH', `${objectPath(subject)}/status`, machineStatus(seq, interfaces)),
    )
  }

  async #delete(subject: Subject): Promise<void> {
    this.#present.delete(subject)
    await this.#write(subject, new Map(), () => this.#request('DELETE', objectPath(subject)), true)
  }

  async #write(
    subject: Subject,
    addresses: ReadonlyMap<string, string>,
    attempt: (seq: number) => Promise<unknown>,
    isDeletion = false,
  ): Promise<void> {
    const { seq } = this.#history.begin(subject.kind, `${subject.kind} ${subject.name}`, addresses)
    for (;;) {
      this.#signal.throwIfAborted()
      try {
        await attempt(seq)
        return
      } catch {
        if (await this.#isWritten(subject, addresses, seq, isDeletion)) return
        await sleep(RETRY_MS)
      }
    }
  }

  async #isWritten(
    subject: Subject,
    addresses: ReadonlyMap<string, string>,
    seq: number,
    isDeletion: boolean,
  ): Promise<boolean> {
    try {
      const { metadata, status } = await this.#request<Found>('GET', objectPath(subject))
      // The bare object of a machine says nothing of the write.
      const isBare = subject.kind === 'vmi' && addresses.size === 0 && status === undefined
      return !isDeletion && (isBare || [metadata.annotations?.[SEQ], status?.seq].includes(String(seq)))
    } catch (error) {
      return isDeletion && String(error).includes('404')
    }
  }

  #someHosts(): readonly string[] {
    return this.#random.shuffle([...HOSTS]).slice(0, this.#random.between(1, 3))
  }

  #request<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    return this.#cluster.request<Answer>(method, path, body)
  }
}
