// A key with its value, and the name it stands for: /skydns/org/example/www/4b4b9d2a with `targetstrip` 1 is an entry of
// www.example.org, told apart from the others of that name by its label 4b4b9d2a.

import { parseService, type Service } from './service-value.ts'

export interface Entry {
  readonly key: string
  /** As the key spells it. */
  readonly name: string
  /** The labels of the key that are not of the name, as ExternalDNS keeps them in the label `prefix`; mostly one. */
  readonly label: string
  readonly service: Service
  readonly modRevision: bigint
}

/** A key that stands for no name, because of itself or its value. It is nobody's to change. */
export interface Unreadable {
  readonly key: string
  readonly problem: string
  readonly modRevision: bigint
}

export function readEntry(prefix: string, key: Uint8Array, value: Uint8Array, modRevision: bigint): Entry | Unreadable {
  const text = Buffer.from(key).toString()
  const unreadable = (problem: string) => ({ key: text, problem, modRevision })
  if (!Buffer.from(text).equals(key)) return unreadable('its key is not UTF-8; expected text')
  const service = parseService(value)
  if (typeof service === 'string') return unreadable(service)
  const labels = text.slice(prefix.length).split('/').toReversed()
  if (labels.includes('')) return unreadable('its key has an empty label; expected one slash between two labels')
  const { targetstrip } = service
  if (targetstrip < 0 || targetstrip >= labels.length)
    return unreadable(`"targetstrip" is ${targetstrip}, which leaves no name; expected 0 to ${labels.length - 1}`)
  const [label, name] = [labels.slice(0, targetstrip), labels.slice(targetstrip)].map((part) => part.join('.'))
  return { key: text, name, label, service, modRevision }
}

export function isReadable(entry: Entry | Unreadable): entry is Entry {
  return 'service' in entry
}

export function keyOf(prefix: string, name: string): string {
  return prefix + name.split('.').toReversed().join('/')
}

/** With the slash that belongs at its end, so that /skydns is not the prefix of /skydnsorg. */
export function normalPrefix(prefix: string): string {
  return prefix.endsWith('/') ? prefix : `${prefix}/`
}
