// Whether the PostgreSQL is there that data was made with: a server of another major version cannot read it.

import { installCommand } from '../packages.ts'
import { installedPostgres } from '../postgres-programs.ts'
import { type Finding, ok, problem } from '../../finding.ts'

/** `version`: of the data of a stack; undefined when there is none yet. */
export async function checkPostgresVersion(
  version: string | undefined,
  installed = installedPostgres(),
): Promise<readonly Finding[]> {
  if (version === undefined) return []
  const versions = await installed
  if (versions.includes(version)) return [ok('postgres', `version ${version}, as the data`)]
  const there = versions.length === 0 ? 'none' : versions.join(', ')
  const message = `the data of the stack is of PostgreSQL ${version}, which is not installed; installed: ${there}`
  return [problem('postgres', message, installCommand([`postgresql-${version}`]))]
}
