// The entries of one name as endpoints: one per record type, with the labels by which ExternalDNS finds the keys again.
// (ExternalDNS itself throws A and AAAA of a name together, and so never sees what it wrote.)

import { type Endpoint, LABEL, type ProviderProperty } from '../../endpoints/endpoint.ts'
import type { Entry } from './entry.ts'
import { isNote } from './note.ts'
import { hostType } from './service-value.ts'
import { GROUP_PROPERTY } from './storable.ts'
import { normalTarget, withoutFinalDot } from './target.ts'

const PROVIDER_LABEL = { prefix: 'prefix', text: 'originalText' } as const

/** `entries`: in the order of their keys. `owned`: the owner in the values counts, and each has endpoints of its own. */
export function readEndpoints(entries: readonly Entry[], owned: boolean): Endpoint[] {
  const byOwner = Map.groupBy(entries, ({ service }) => (owned ? service.owner : ''))
  return Array.from(byOwner.values(), (each) => ownEndpoints(each, owned)).flat()
}

function ownEndpoints(entries: readonly Entry[], owned: boolean): Endpoint[] {
  const hosts = entries.filter(({ service }) => service.host !== '')
  const byType = Map.groupBy(hosts, ({ name, service }) => hostType(name, service.host))
  return [...Array.from(byType, ([type, each]) => hostEndpoint(type, each, owned)), ...textEndpoints(entries, owned)]
}

function hostEndpoint(recordType: string, entries: readonly Entry[], owned: boolean): Endpoint {
  const [{ name, service: first }] = entries
  const targets = new Map(
    entries.map((entry) => [normalTarget(entry.service.host), withoutFinalDot(entry.service.host)]),
  )
  const { label, service: last } = entries[entries.length - 1]
  return {
    dnsName: name,
    recordType,
    targets: [...targets.values()],
    ...recordTtl(first.ttl),
    labels: {
      ...ownerLabel(first.owner, owned),
      [PROVIDER_LABEL.text]: last.text,
      [PROVIDER_LABEL.prefix]: label,
      ...Object.fromEntries(entries.map((entry) => [withoutFinalDot(entry.service.host), entry.label])),
    },
    providerSpecific: groupProperty(first.group),
  }
}

/** One for all texts, but each note alone: registries read one note per endpoint. */
function textEndpoints(entries: readonly Entry[], owned: boolean): Endpoint[] {
  const withText = entries.filter(({ service }) => service.text !== '')
  if (withText.length === 0) return []
  const texts = [...Map.groupBy(withText, ({ service }) => service.text)]
  const byKind = Map.groupBy(texts, ([text]) => isNote(text))
  const notes = byKind.get(true) ?? []
  const others = byKind.get(false) ?? []
  return [...notes.map((note) => [note]), others]
    .filter((group) => group.length > 0)
    .map((group) => {
      const [[, [{ name, label, service }]]] = group
      return {
        dnsName: name,
        recordType: 'TXT',
        targets: group.map(([text]) => text),
        // Beside a host it is the TTL of the host.
        ...recordTtl(service.host === '' ? service.ttl : 0),
        labels: { ...ownerLabel(service.owner, owned), [PROVIDER_LABEL.prefix]: label },
        providerSpecific: [],
      }
    })
}

function recordTtl(seconds: number): { recordTTL?: number } {
  return seconds === 0 ? {} : { recordTTL: seconds }
}

function ownerLabel(owner: string, owned: boolean): Record<string, string> {
  return owned ? { [LABEL.owner]: owner } : {}
}

function groupProperty(group: string): readonly ProviderProperty[] {
  return group === '' ? [] : [{ name: GROUP_PROPERTY, value: group }]
}
