// An etcd cluster that is not the stack's own: always by TLS, so endpoints need no scheme. What it asks of clients is its business.

import type { CertifiedKey } from '../../clusters/site.ts'
import type { Path } from '../../document/located.ts'
import { plain } from '../../machine/content.ts'
import type { GivenPair } from '../../machine/hardware.ts'
import type { StackResolver } from './resolver.ts'

export function externalEndpoints(endpoints: readonly string[], path: Path, resolver: StackResolver): string[] {
  return endpoints.map((endpoint, index) => {
    if (endpoint.startsWith('http://'))
      resolver.problem([...path, index], 'it is not encrypted; expected an endpoint with TLS, such as 10.0.0.1:2379')
    return endpoint.replace(/^https:\/\//u, '')
  })
}

export function certifiedKey(pair: GivenPair): CertifiedKey
export function certifiedKey(pair: GivenPair | undefined): CertifiedKey | undefined
export function certifiedKey(pair: GivenPair | undefined): CertifiedKey | undefined {
  return pair && { certificate: plain(pair.certificate), key: [pair.key] }
}
