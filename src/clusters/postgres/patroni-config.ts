// patroni.yml of one member: what is its own, that is addresses, files and credentials. All connections have TLS and
// check who answers: to etcd, to the REST APIs of the others, to PostgreSQL (its own, too) and between PostgreSQLs.

import { HoldfastError } from '../../lib/errors.ts'
import type { EtcdAccess, Keyring, Site } from '../site.ts'
import { OPERATOR, operatorPassword } from './access.ts'
import { PATHS } from './paths.ts'
import { PATRONI_PORT, POSTGRES_PORT, type PostgresMember, type PostgresSpec } from './spec.ts'

const REPLICATOR = 'replicator'
const REWINDER = 'rewinder'

/** PostgreSQL's parameters that make the promises above, or are Patroni's business: they cannot be chosen in the stack file. */
export const RESERVED_PARAMETERS: ReadonlySet<string> = new Set([
  'cluster_name',
  'data_directory',
  'hba_file',
  'hot_standby',
  'ident_file',
  'listen_addresses',
  'password_encryption',
  'port',
  'primary_conninfo',
  'primary_slot_name',
  'ssl',
  'ssl_cert_file',
  'ssl_key_file',
  'synchronous_standby_names',
  'unix_socket_directories',
  'wal_log_hints',
])

/** First match counts, and what matches nothing is rejected; `replication` is no database, so `all` leaves it out. */
const PG_HBA: readonly string[] = [
  'local all all reject',
  'hostnossl all all all reject',
  'hostnossl replication all all reject',
  `hostssl replication ${REPLICATOR} all scram-sha-256`,
  `hostssl all ${REPLICATOR} all reject`,
  'hostssl all all all scram-sha-256',
]

export function patroniConfig(spec: PostgresSpec, member: PostgresMember, site: Site, etcd: EtcdAccess) {
  const { patroni } = spec
  const path = (name: keyof typeof PATHS) => site.path(member.name, PATHS[name])
  const api = `${member.address}:${PATRONI_PORT}`
  const server = `${member.address}:${POSTGRES_PORT}`
  const passwords = postgresPasswords(spec, site.keyring)
  const verified = { sslmode: 'verify-full', sslrootcert: path('ca') }
  return {
    scope: patroni.scope,
    namespace: patroni.namespace,
    name: member.patroniName,
    etcd3: { hosts: etcd.endpoints, protocol: 'https', cacert: path('etcdCa'), ...etcdLogin(etcd) },
    restapi: {
      listen: api,
      connect_address: api,
      certfile: path('certificate'),
      keyfile: path('key'),
      cafile: path('ca'),
      verify_client: 'required',
      authentication: { username: OPERATOR, password: operatorPassword(site.keyring) },
    },
    ctl: { cacert: path('ca'), certfile: path('certificate'), keyfile: path('key') },
    postgresql: {
      listen: server,
      connect_address: server,
      data_dir: path('data'),
      bin_dir: PATHS.binaries,
      pgpass: path('pgpass'),
      // A checkpoint that takes its time would keep a new member waiting for minutes.
      basebackup: [{ checkpoint: 'fast' }],
      authentication: {
        superuser: { username: 'postgres', password: passwords.superuser, ...verified },
        replication: { username: REPLICATOR, password: passwords.replication, ...verified },
        // May read files for pg_rewind, and nothing else.
        rewind: { username: REWINDER, password: passwords.rewind, ...verified },
      },
      pg_hba: PG_HBA,
      parameters: {
        ssl: 'on',
        ssl_cert_file: path('certificate'),
        ssl_key_file: path('key'),
        password_encryption: 'scram-sha-256',
        // Everybody comes over TLS, Patroni itself, too; and the path of a socket must not be longer than 107 bytes.
        unix_socket_directories: '',
      },
    },
    watchdog: {
      mode: site.watchdog,
      device: '/dev/watchdog',
      safety_margin: patroni.watchdogSafetyMargin,
    },
  }
}

/** Of PostgreSQL's own users, under the names that Patroni has for what they do. */
export function postgresPasswords({ superuserPassword, replicatorPassword }: PostgresSpec, keyring: Keyring) {
  return {
    superuser: keyring.secret('postgres-superuser-password', superuserPassword),
    replication: keyring.secret('postgres-replicator-password', replicatorPassword),
    rewind: keyring.secret('postgres-rewinder-password'),
  }
}

/** Patroni talks to etcd's gateway, which takes no certificates for users. */
function etcdLogin({ login }: EtcdAccess) {
  if ('username' in login) return login
  throw new HoldfastError(
    'PatroniNeedsPassword',
    'Cannot let Patroni use etcd: it is given a client certificate; a user name and a password are wanted',
  )
}
