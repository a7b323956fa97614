// What is in etcd: every revision is looked at, with all that changed in it at once.

import { EtcdClient } from '../../../src/etcd/client.ts'
import { mirror, type MirrorChange } from '../../../src/etcd/mirror.ts'
import type { EtcdOptions } from '../../../src/etcd/options.ts'
import type { Output } from './output.ts'

const PREFIX = '/skydns/'

interface Value {
  readonly host?: string
  readonly text?: string
}

interface Entry extends Value {
  readonly name: string
}

export class EtcdOutput {
  readonly output: Output
  readonly #client: EtcdClient
  readonly #entries = new Map<string, Entry>()
  readonly #byName = new Map<string, Set<string>>()
  #revision = 0n

  constructor(output: Output, options: EtcdOptions) {
    this.output = output
    this.#client = new EtcdClient(options)
  }

  /** The last one in which something changed. */
  get revision(): bigint {
    return this.#revision
  }

  async follow(signal: AbortSignal): Promise<void> {
    await mirror({
      ...{ client: this.#client, prefix: Buffer.from(PREFIX), signal },
      onChanges: (changes, { revision }) => {
        if (changes.length > 0) this.#revision = revision
        for (const name of new Set(changes.map((change) => this.#take(change))))
          if (!isMark(name)) this.output.look(name, this.addresses(name))
      },
      onState: () => undefined,
    })
    this.#client.close()
  }

  addresses(name: string): string[] {
    return this.#of(name).flatMap(({ host = '' }) => (host === '' ? [] : [host]))
  }

  read(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
    return new Map(names.map((name) => [name, this.addresses(name)]))
  }

  /** Keys that should not be there: a target twice, a mark twice or for a name that is gone. */
  superfluous(): string[] {
    const seen = new Set<string>()
    return Array.from(this.#entries).flatMap(([key, { name, host = '', text = '' }]) => {
      const isLeft = isMark(name) && this.addresses(markedName(name)).length === 0
      const what = `${name} ${host === '' ? 'mark' : host}`
      const isTwice = seen.has(what)
      seen.add(what)
      return isLeft || isTwice || (host === '' && text === '') ? [`${key} ${JSON.stringify({ host, text })}`] : []
    })
  }

  #of(name: string): Entry[] {
    return Array.from(this.#byName.get(name) ?? [], (key) => this.#entries.get(key)).filter(
      (each) => each !== undefined,
    )
  }

  /** The name that it is about. */
  #take({ key, value }: MirrorChange): string {
    const text = Buffer.from(key).toString()
    // The last label only tells keys of one name apart.
    const name = `${text.slice(PREFIX.length).split('/').slice(0, -1).toReversed().join('.')}.`
    const keys = this.#byName.get(name) ?? new Set()
    this.#byName.set(name, keys)
    if (value === undefined) {
      this.#entries.delete(text)
      keys.delete(text)
    } else {
      this.#entries.set(text, { name, ...(JSON.parse(Buffer.from(value.value).toString()) as Value) })
      keys.add(text)
    }
    return name
  }
}

/** Of a TXT registry: `a-h1.kube.test.` speaks of the addresses of `h1.kube.test.`. */
function isMark(name: string): boolean {
  return name.startsWith('a-')
}

function markedName(name: string): string {
  return name.slice(2)
}
