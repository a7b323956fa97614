// Debian's packages start their daemons when they are installed, and PostgreSQL's makes a database cluster. Neither is
// wanted here. Debian asks /usr/sbin/policy-rc.d before it starts a daemon: ours says no, as long as our process lives,
// and asks the one that was there before otherwise. So a copy that is left behind, should we be killed, does no harm.

import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const POLICY = 'usr/sbin/policy-rc.d'
const SAVED = `${POLICY}.before-holdfast`
const OURS = '# Put here by holdfast while it installs packages'
const CLUSTERS = 'etc/postgresql-common/createcluster.d'
const NO_CLUSTER: readonly string[] = [
  '# Put here by holdfast, which installed PostgreSQL and makes its clusters itself.',
  'create_main_cluster = false',
]

/** Packages installed by `work` do not start what they bring. The host's policy is back afterwards, whatever happens. */
export async function withoutDaemons<T>(work: () => Promise<T>, root = '/'): Promise<T> {
  const policy = join(root, POLICY)
  const saved = join(root, SAVED)
  const ours = `${OURS}: no daemon is started while process ${process.pid} runs.`
  const before = await textOf(policy)
  if (before !== undefined && !before.includes(OURS)) await rename(policy, saved)
  const script = [
    '#!/bin/sh',
    ours,
    `[ ! -d /proc/${process.pid} ] || exit 101`,
    `[ ! -x "${saved}" ] || exec "${saved}" "$@"`,
    'exit 0',
    '',
  ]
  await writeFile(policy, script.join('\n'), { mode: 0o755 })
  try {
    return await work()
  } finally {
    // Whoever put theirs over ours puts things right after us.
    if ((await textOf(policy))?.includes(ours)) await rename(saved, policy).catch(() => rm(policy))
  }
}

/** For a host without PostgreSQL; one that has it has decided about its clusters. */
export async function withoutMainCluster(root = '/'): Promise<void> {
  const path = join(root, CLUSTERS, 'no-main.conf')
  if ((await textOf(path)) !== undefined) return
  await mkdir(join(root, CLUSTERS), { recursive: true })
  await writeFile(path, `${NO_CLUSTER.join('\n')}\n`)
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return undefined
  }
}
