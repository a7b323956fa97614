// Where a load balancer can be reached, as ingresses and services have it in their status.

import { pick } from './kept-object.ts'

export interface LoadBalancerStatus {
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] }
  }
}

/** An entry may have both. */
export function loadBalancerTargets({ status }: LoadBalancerStatus): string[] {
  return (status?.loadBalancer?.ingress ?? [])
    .flatMap(({ ip = '', hostname = '' }) => [ip, hostname])
    .filter((target) => target !== '')
}

/** Without the ports, which nobody reads. */
export function keptLoadBalancer({ status }: LoadBalancerStatus): LoadBalancerStatus {
  const ingress = (status?.loadBalancer?.ingress ?? []).map((entry) => pick(entry, ['ip', 'hostname']))
  return ingress.length === 0 ? {} : { status: { loadBalancer: { ingress } } }
}
