// A stack to its new shape, cluster by cluster: etcd first, as the others need it; then name servers and PostgreSQL at the same
// time; then the proxies in front of PostgreSQL. An etcd cluster that has quorum but not all members holds up nothing else:
// the rest is brought up, and the failure is reported at the end.

import { describeForeignUsers, readForeignUsers, refuseForeignRoot } from '../../clusters/etcd/foreign-users.ts'
import type { EtcdSpec } from '../../clusters/etcd/spec.ts'
import { HoldfastError } from '../../lib/errors.ts'
import { allOrFirstFailure } from '../all-or-first-failure.ts'
import { applyIndependent } from './dns.ts'
import { changeEtcd, formEtcd } from './etcd.ts'
import { isServing, needsCertificatesFirst } from './etcd-state.ts'
import { applyPostgres } from './postgres.ts'
import { untilReady } from './wait.ts'
import { removeMachine, sortMachines, type Work } from './work.ts'

export interface EtcdHistory {
  /** It was ready once: members join and leave from then on. */
  readonly isFormed: boolean
  /** It is there now, or it is not there any more. */
  readonly onFormed: (isFormed: boolean) => Promise<void>
}

export async function applyStack(work: Work, etcd: EtcdHistory): Promise<void> {
  const spec = work.stack.etcd
  if (spec !== undefined && etcd.isFormed) return changeStack(work, spec)
  if (spec === undefined) {
    // No member is left to be asked.
    for (const machine of sortMachines(work, 'etcd').gone) await removeMachine(work, machine)
    await etcd.onFormed(false)
  } else {
    await formEtcd(work)
    await etcd.onFormed(true)
  }
  await applyRest(work)
}

async function changeStack(work: Work, spec: EtcdSpec): Promise<void> {
  let isRestDone = false
  const rest = async () => {
    isRestDone = true
    await applyRest(work)
  }
  // Members that ask for certificates from now on shut out clients that have none.
  const clientsFirst = needsCertificatesFirst(work) ? rest : undefined
  try {
    await changeEtcd(work, spec, { clientsFirst })
  } catch (error) {
    if (isRestDone || !isOfEtcd(error) || !(await isServing(work))) throw error
    work.progress({
      machine: undefined,
      state: 'warning',
      message: `etcd has quorum, so the rest continues without waiting for all members: ${error.message}`,
    })
    await rest()
    throw error
  }
  await allOrFirstFailure([untilReady(work, 'etcd'), ...(isRestDone ? [] : [rest()])])
  await checkUsers(work, spec)
}

/** Last of all: an intruder is removed by people, and meanwhile everything else is as it should be. */
async function checkUsers({ clients, progress, signal }: Work, spec: EtcdSpec): Promise<void> {
  const users = await readForeignUsers(spec, clients.etcd(), signal)
  const message = describeForeignUsers(users)
  if (message !== undefined) progress({ machine: undefined, state: 'warning', message })
  refuseForeignRoot(users)
}

function isOfEtcd(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && error.code !== 'Interrupted'
}

async function applyRest(work: Work): Promise<void> {
  await allOrFirstFailure([applyIndependent(work, 'dns'), applyPostgres(work)])
  await applyIndependent(work, 'haproxy')
}
