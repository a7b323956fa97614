// An object as the dot of a template, in both of the shapes that ExternalDNS gives it: as its Go type (.Name, .ObjectMeta.Name,
// .Spec.Type), and as plain data (.Metadata, .Object, .Spec.type).

import type { KubeObject } from '../../../kube/resource.ts'
import { TemplateError } from './template-error.ts'
import type { StructValue, Value } from './template-value.ts'
import { ABSENT, fieldOf, valueOf } from './template-value.ts'

/** Of the kinds that templates see: where they come from. */
const KINDS: Readonly<Record<string, { readonly apiVersion: string; readonly source: string }>> = {
  Service: { apiVersion: 'v1', source: 'service' },
  Node: { apiVersion: 'v1', source: 'node' },
  Ingress: { apiVersion: 'networking.k8s.io/v1', source: 'ingress' },
  HTTPRoute: { apiVersion: 'gateway.networking.k8s.io/v1', source: 'gateway-httproute' },
  GRPCRoute: { apiVersion: 'gateway.networking.k8s.io/v1', source: 'gateway-grpcroute' },
  TLSRoute: { apiVersion: 'gateway.networking.k8s.io/v1', source: 'gateway-tlsroute' },
  TCPRoute: { apiVersion: 'gateway.networking.k8s.io/v1', source: 'gateway-tcproute' },
  UDPRoute: { apiVersion: 'gateway.networking.k8s.io/v1', source: 'gateway-udproute' },
}

/** As --source names it. */
export function sourceOfKind(kind: string): string {
  return KINDS[kind]?.source ?? ''
}

export function objectValue(object: KubeObject, kind: string): StructValue {
  return new ObjectValue({ apiVersion: KINDS[kind]?.apiVersion ?? '', ...object, kind })
}

const METADATA: ReadonlySet<string> = new Set([
  ...['name', 'generatename', 'namespace', 'selflink', 'uid', 'resourceversion', 'generation', 'labels', 'annotations'],
  ...['creationtimestamp', 'deletiontimestamp', 'deletiongraceperiodseconds', 'ownerreferences', 'finalizers'],
])

/** Labels and annotations are maps, even where an object has none. */
const METADATA_MAPS: ReadonlySet<string> = new Set(['labels', 'annotations'])

class ObjectValue implements StructValue {
  readonly #object: KubeObject & { readonly kind: string; readonly apiVersion: string }

  constructor(object: KubeObject & { readonly kind: string; readonly apiVersion: string }) {
    this.#object = object
  }

  field(name: string): Value {
    const lower = name.toLowerCase()
    if (METADATA.has(lower)) return this.#metadata(name)
    switch (lower) {
      case 'objectmeta':
        return { field: (inner) => this.#metadata(inner) }
      case 'typemeta':
      case 'kind':
      case 'apiversion':
      case 'spec':
      case 'status':
        return lower === 'typemeta' ? this : fieldOf(valueOf(this.#object, 'struct'), name)
      case 'metadata':
        return valueOf(this.#object.metadata, 'any')
      case 'object':
        return valueOf(this.#object, 'any')
      default:
        throw new TemplateError(
          `${this.#object.kind} has no field .${name}; wanted one such as .Name, .Labels or .Spec`,
        )
    }
  }

  #metadata(name: string): Value {
    const found = fieldOf(valueOf(this.#object.metadata, 'struct'), name)
    return found === ABSENT && METADATA_MAPS.has(name.toLowerCase()) ? valueOf({}, 'strings') : found
  }
}
