// An object as the dot of a template, in both of the shapes that ExternalDNS gives it: as its Go type (.Name, .ObjectMeta.Name,
// .Spec.Type), and as plain data (.Metadata, .Object, .Spec.type).

import type { KubeObject } from '../../../kube/resource.ts'
import { METADATA_FIELDS, OBJECT_FIELDS } from './object-fields.ts'
import { TemplateError } from './template-error.ts'
import type { StructValue, Value } from './template-value.ts'
import { fieldOf, valueOf } from './template-value.ts'

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

class ObjectValue implements StructValue {
  readonly #object: KubeObject & { readonly kind: string; readonly apiVersion: string }

  constructor(object: KubeObject & { readonly kind: string; readonly apiVersion: string }) {
    this.#object = object
  }

  field(name: string): Value {
    switch (name.toLowerCase()) {
      case 'kind':
        return this.#object.kind
      case 'apiversion':
        return this.#object.apiVersion
      case 'typemeta':
        return this
      case 'objectmeta':
        return this.#metadata
      case 'spec':
      case 'status':
        return this.#part(name.toLowerCase() as 'spec' | 'status')
      case 'metadata':
        return valueOf(this.#object.metadata, 'any')
      case 'object':
        return valueOf(this.#object, 'any')
      default:
        return this.#promoted(name)
    }
  }

  get #metadata(): Value {
    return valueOf(this.#object.metadata, METADATA_FIELDS)
  }

  #part(name: 'spec' | 'status'): Value {
    const parts: Readonly<Record<string, unknown>> = { ...this.#object }
    return valueOf(parts[name] ?? {}, OBJECT_FIELDS[this.#object.kind] ?? new Map())
  }

  /** Go has the fields of the metadata at the object as well, and functions that get them. */
  #promoted(name: string): Value {
    const plain = name.replace(/^Get/u, '')
    if (!METADATA_FIELDS.has(plain.toLowerCase()))
      throw new TemplateError(
        `${this.#object.kind} has no field .${name}; expected one such as .Name, .Labels or .Spec`,
      )
    return fieldOf(this.#metadata, plain)
  }
}
