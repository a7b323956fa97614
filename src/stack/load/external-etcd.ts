// Endpoints of an etcd cluster that is not the stack's own: always by TLS, so they need no scheme.

import type { Path } from '../../document/located.ts'
import type { StackResolver } from './resolver.ts'

export function externalEndpoints(endpoints: readonly string[], path: Path, resolver: StackResolver): string[] {
  return endpoints.map((endpoint, index) => {
    if (endpoint.startsWith('http://'))
      resolver.problem([...path, index], 'it is not encrypted; wanted: an endpoint with TLS, such as 10.0.0.1:2379')
    return endpoint.replace(/^https:\/\//u, '')
  })
}
