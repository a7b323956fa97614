// From a stack to its machines: every kind of cluster renders its own, this puts them together. Pure.

import { isDeepStrictEqual } from 'node:util'
import { dnsMachines } from '../clusters/dns/machines.ts'
import { etcdAccess } from '../clusters/etcd/access.ts'
import { etcdMachines } from '../clusters/etcd/machines.ts'
import type { MemberPlace } from '../clusters/etcd/settings.ts'
import { haproxyMachines } from '../clusters/haproxy/machines.ts'
import { postgresMachines } from '../clusters/postgres/machines.ts'
import type { EtcdAccess, Site } from '../clusters/site.ts'
import type { Machine } from '../machine/machine.ts'
import { machineSpecs, type Stack } from './stack.ts'

export interface Standing {
  /** Members that the etcd cluster has by now; none when it is still to be formed. */
  readonly etcd: readonly MemberPlace[]
  /** Files of the name servers there are: serials go on from there. */
  readonly dnsFiles: readonly ReadonlyMap<string, { readonly text: string }>[]
}

/** In the order they are started. */
export function renderMachines(stack: Stack, site: Site, standing: Standing): Machine[] {
  const { etcd, dns, postgres } = stack
  const access = (given: EtcdAccess | 'own' | undefined, user: string) =>
    given === 'own' && etcd !== undefined ? etcdAccess(etcd, site, user) : (given as EtcdAccess | undefined)
  const patroniEtcd = access(postgres?.etcd, 'patroni')
  return [
    ...(etcd === undefined ? [] : etcdMachines(etcd, site, standing.etcd)),
    ...(dns === undefined
      ? []
      : dnsMachines(dns, site, {
          etcd: access(dns.etcd, 'dns'),
          machines: machineSpecs(stack),
          patroni: postgres !== undefined && isSame(dns.etcd, postgres.etcd) ? [postgres.patroni] : [],
          existing: standing.dnsFiles,
        })),
    ...(postgres === undefined || patroniEtcd === undefined ? [] : postgresMachines(postgres, site, patroniEtcd)),
    ...(postgres?.haproxy === undefined ? [] : haproxyMachines(postgres, postgres.haproxy, site)),
  ]
}

/** Whether name servers can follow the keys of Patroni where they follow everything else. */
function isSame(one: EtcdAccess | 'own' | undefined, other: EtcdAccess | 'own'): boolean {
  const place = (access: typeof one) => (typeof access === 'object' ? access.endpoints.toSorted() : access)
  return isDeepStrictEqual(place(one), place(other))
}
