// A stack to its new shape, cluster by cluster: etcd first, as the others need it; then name servers and PostgreSQL at the same
// time; then what stands in front of PostgreSQL.

import { allOrFirstFailure } from '../all-or-first-failure.ts'
import { applyIndependent } from './dns.ts'
import { changeEtcd, formEtcd } from './etcd.ts'
import { applyPostgres } from './postgres.ts'
import { removeMachine, sortMachines, type Work } from './work.ts'

export interface EtcdHistory {
  /** It was ready once: members join and leave from then on. */
  readonly isFormed: boolean
  /** It is there now, or it is not there any more. */
  readonly onFormed: (isFormed: boolean) => Promise<void>
}

export async function applyStack(work: Work, etcd: EtcdHistory): Promise<void> {
  const spec = work.stack.etcd
  if (spec === undefined) {
    // Nobody is left to be asked.
    for (const machine of sortMachines(work, 'etcd').gone) await removeMachine(work, machine)
    await etcd.onFormed(false)
  } else if (etcd.isFormed) {
    await changeEtcd(work, spec)
  } else {
    await formEtcd(work)
    await etcd.onFormed(true)
  }
  await allOrFirstFailure([applyIndependent(work, 'dns'), applyPostgres(work)])
  await applyIndependent(work, 'haproxy')
}
