// What the state of an etcd cluster decides about the order of the work: whether the clusters that use it can continue, and
// whether they need new certificates before it changes.

import { PATHS } from '../../clusters/etcd/settings.ts'
import { plain } from '../../machine/content.ts'
import type { Machine } from '../../machine/machine.ts'
import type { ExistingMachine } from '../../targets/target.ts'
import type { Work } from './work.ts'

const TIMEOUT_MS = 10_000

/** The whole of it may lack members: it has quorum, and knows its users. */
export async function isServing({ clients, signal }: Work): Promise<boolean> {
  const soon = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
  const client = clients.etcd()
  try {
    // A read that goes through the leader.
    await client.range({ key: Uint8Array.of(0) }, soon)
    return await client.isAuthEnabled(soon)
  } catch {
    return false
  }
}

/** A member of the cluster was made by a version that asked clients for no certificate. */
export function needsCertificatesFirst({ existing }: Work): boolean {
  return [...existing.values()].some(isOpen)
}

function isOpen({ kind, files }: ExistingMachine): boolean {
  const settings = files.get(PATHS.settings)?.text
  return kind === 'etcd' && settings !== undefined && !/^ETCD_TRUSTED_CA_FILE=/mu.test(settings)
}

/** The machine with the settings that its etcd runs with: should it end now, it starts again as it was. */
export function withSettingsInUse({ existing }: Work, machine: Machine): Machine {
  const inUse = existing.get(machine.name)?.files.get(PATHS.settings)?.text
  if (inUse === undefined) return machine
  const files = machine.files.map((file) => (file.path === PATHS.settings ? { ...file, content: plain(inUse) } : file))
  return { ...machine, files }
}
