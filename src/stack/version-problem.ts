// A major version of PostgreSQL that the stack file asks for and that cannot be had.

import { HoldfastError } from '../lib/errors.ts'

export interface VersionQuestion {
  readonly stack: string
  /** By the stack file. */
  readonly asked: string | undefined
  /** Of the data that there is. */
  readonly kept: string | undefined
  /** Versions that the machines can have; undefined where only the machines know. */
  readonly available: readonly string[] | undefined
}

export function versionProblem({ stack, asked, kept, available }: VersionQuestion): HoldfastError | undefined {
  if (asked === undefined) return undefined
  if (kept !== undefined && asked !== kept)
    return new HoldfastError(
      'VersionUnavailable',
      `Cannot use PostgreSQL ${asked}: the data of "${stack}" is of PostgreSQL ${kept}; expected version "${kept}"`,
      { hint: 'data stays with the version that made it; to use another one, dump the data into a new stack' },
    )
  if (kept !== undefined || available === undefined || available.includes(asked)) return undefined
  return new HoldfastError(
    'VersionUnavailable',
    `Cannot use PostgreSQL ${asked}: this host does not have it; expected ${available.map((each) => `"${each}"`).join(' or ')}`,
    { hint: `install postgresql-${asked}, or change "version" of "postgres" in the stack file` },
  )
}
