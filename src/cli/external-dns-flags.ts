// The flags of ExternalDNS read, and its variables EXTERNAL_DNS_*: a flag wins over its variable. Switches are on with
// `--x` or `--x=true`, off with `--no-x` or `--x=false`; a variable holds several values in several lines. An empty value
// stands for none, as in many a manifest.

import { parseDuration } from '../document/notation.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { Io } from './command.ts'
import { EXTERNAL_DNS_FLAGS, type Named, REFUSED, UNMET } from './external-dns-options.ts'

const RECORD_TYPES: readonly string[] = 'A AAAA CNAME TXT PTR SRV NS MX NAPTR DNAME TLSA'.split(' ')

type Given = Readonly<Record<string, unknown>>

export class ExternalDnsFlags {
  readonly #given: Given
  readonly #env: Io['env']

  constructor(given: Given, env: Io['env']) {
    this.#given = given
    this.#env = env
  }

  text(name: Named<'text' | 'switch'>): string | undefined {
    return this.written(name) || undefined
  }

  /** Even when it is empty, where that says something. */
  written(name: Named<'text' | 'switch'>): string | undefined {
    return (this.#given[name] as string | undefined) ?? this.#variable(name)
  }

  list(name: Named<'list'>): readonly string[] {
    const given = this.#given[name] as readonly string[]
    const values = given.length > 0 ? given : (this.#variable(name)?.split(/\r?\n/u) ?? [])
    return values.filter((value) => value !== '')
  }

  flag(name: Named<'switch'>): boolean {
    return this.switched(name) ?? EXTERNAL_DNS_FLAGS[name].standard
  }

  /** Undefined when it is switched neither on nor off. */
  switched(name: Named<'switch'>): boolean | undefined {
    if (this.#given[`no-${name}`] === true) return false
    const word = this.text(name)
    if (word === undefined) return undefined
    if (/^(?:1|t|true)$/iu.test(word)) return true
    if (/^(?:0|f|false)$/iu.test(word)) return false
    throw new HoldfastError('Usage', `Cannot read "${word}" as --${name}: expected true or false`)
  }

  /** One of these words. */
  choice<const Word extends string>(name: Named<'text'>, words: readonly Word[]): Word | undefined {
    const given = this.text(name)
    if (given === undefined) return undefined
    const word = words.find((each) => each === given.toLowerCase())
    if (word !== undefined) return word
    throw new HoldfastError('Usage', `Cannot use --${name} "${given}": ${words.join(', ')} are known`)
  }

  /** As ExternalDNS spells them; a type that is spelled otherwise would be nobody's without a word. */
  recordTypes(name: 'managed-record-types' | 'exclude-record-types'): readonly string[] {
    const given = this.list(name)
    const strange = given.find((type) => !RECORD_TYPES.includes(type))
    if (strange === undefined) return given
    throw new HoldfastError(
      'Usage',
      `Cannot use --${name} "${strange}": ${RECORD_TYPES.join(', ')} are known`,
      strange.includes(',') ? { hint: `several are given one by one: --${name}=A --${name}=AAAA` } : {},
    )
  }

  /** Milliseconds; a bare number is seconds. */
  duration(name: Named<'text'>): number | undefined {
    const given = this.text(name)
    if (given === undefined) return undefined
    const ms = /^\d+$/u.test(given) ? Number(given) * 1000 : parseDuration(given)
    if (ms !== undefined) return ms
    throw new HoldfastError('Usage', `Cannot read "${given}" as --${name}: expected a duration such as 30s or 1m`)
  }

  /** Throws when something is asked for without which names would be others. */
  refuseUnsupported(): void {
    const isAsked = {
      'gateway-listener-sets': this.flag('gateway-listener-sets'),
      'nat64-networks': this.list('nat64-networks').length > 0,
      'resolve-service-load-balancer-hostname': this.flag('resolve-service-load-balancer-hostname'),
      compatibility: this.text('compatibility') !== undefined,
    }
    for (const [name, { summary }] of Object.entries(REFUSED)) {
      if (isAsked[name as keyof typeof REFUSED])
        throw new HoldfastError('Usage', `Cannot use --${name}: ${summary}; leave it out`)
    }
  }

  /** What is asked for and does not come, a sentence each. */
  unmet(): string[] {
    const isAsked = {
      'log-format': this.choice('log-format', ['text', 'json']) === 'json',
      'events-emit': this.list('events-emit').length > 0,
    }
    return Object.entries(UNMET).flatMap(([name, { summary }]) =>
      isAsked[name as keyof typeof UNMET] ? [`--${name} has no effect: ${summary}`] : [],
    )
  }

  #variable(name: string): string | undefined {
    return this.#env[`EXTERNAL_DNS_${name.toUpperCase().replaceAll('-', '_')}`] || undefined
  }
}
