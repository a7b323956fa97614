// The roles that PostgreSQL has from the beginning. Patroni has a superuser of its own, whose password nobody chooses:
// the one of people can be changed at any time, also while nothing runs, and Patroni gets in all the same.

import type { Secret } from '../../lib/secret.ts'
import type { Keyring } from '../site.ts'
import type { PostgresSpec } from './spec.ts'

export const ROLES = { patroni: 'patroni', people: 'postgres', replication: 'replicator', rewind: 'rewinder' } as const
type RoleName = (typeof ROLES)[keyof typeof ROLES]

export interface PostgresRole {
  /** SQL that makes it, where it is missing. */
  readonly made_by: readonly string[]
  readonly password: Secret
}

const SUPERUSER = 'LOGIN SUPERUSER CREATEDB CREATEROLE REPLICATION BYPASSRLS'
/** May read files for pg_rewind, and nothing else. */
const REWIND_FUNCTIONS =
  'pg_ls_dir(text, boolean, boolean), pg_stat_file(text, boolean), pg_read_binary_file(text), pg_read_binary_file(text, bigint, bigint, boolean)'

export function patroniPassword(keyring: Keyring): Secret {
  return keyring.secret('postgres-patroni-password')
}

export function postgresRoles(spec: PostgresSpec, keyring: Keyring): Readonly<Record<RoleName, PostgresRole>> {
  const { superuserPassword, replicatorPassword } = spec
  return {
    patroni: {
      made_by: [`CREATE ROLE patroni ${SUPERUSER}`],
      password: patroniPassword(keyring),
    },
    postgres: {
      made_by: [`CREATE ROLE postgres ${SUPERUSER}`],
      password: keyring.secret('postgres-superuser-password', superuserPassword),
    },
    replicator: {
      made_by: ['CREATE ROLE replicator LOGIN REPLICATION'],
      password: keyring.secret('postgres-replicator-password', replicatorPassword),
    },
    rewinder: {
      made_by: ['CREATE ROLE rewinder LOGIN', `GRANT EXECUTE ON FUNCTION ${REWIND_FUNCTIONS} TO rewinder`],
      password: keyring.secret('postgres-rewinder-password'),
    },
  }
}
