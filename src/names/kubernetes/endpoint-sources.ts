// The table of kinds of objects that names come from, by the words of `--source`.

import { suggestion } from '../../lib/closest.ts'
import { HoldfastError } from '../../lib/errors.ts'
import { dnsEndpointSource } from './dns-endpoint.ts'
import type { EndpointSource } from './endpoint-source.ts'
import { gatewaySource } from './gateway/gateway-source.ts'
import { ingressSource } from './ingress-source.ts'
import { nodeSource } from './node-source.ts'
import { serviceSource } from './service-source.ts'
import type { SourceSettings } from './source-settings.ts'
import { nameTemplates, type NameTemplates } from './template/name-templates.ts'

type Factory = (settings: SourceSettings, templates: NameTemplates) => EndpointSource

const FACTORIES: Readonly<Record<string, Factory>> = {
  ingress: ingressSource,
  service: serviceSource,
  node: nodeSource,
  crd: (settings) => dnsEndpointSource(settings),
  'gateway-httproute': (settings, templates) => gatewaySource('http', settings, templates),
  'gateway-grpcroute': (settings, templates) => gatewaySource('grpc', settings, templates),
  'gateway-tlsroute': (settings, templates) => gatewaySource('tls', settings, templates),
  'gateway-tcproute': (settings, templates) => gatewaySource('tcp', settings, templates),
  'gateway-udproute': (settings, templates) => gatewaySource('udp', settings, templates),
}

export function endpointSources(names: readonly string[], settings: SourceSettings): EndpointSource[] {
  const templates = nameTemplates(settings)
  return [...new Set(names)].map((name) => {
    const factory = Object.hasOwn(FACTORIES, name) ? FACTORIES[name] : undefined
    if (factory !== undefined) return factory(settings, templates)
    const expected = suggestion(name, Object.keys(FACTORIES))
    throw new HoldfastError('Usage', `Cannot use source "${name}": no such source; ${expected}`)
  })
}
