// patroni.yml of one member: what is its own, that is addresses, files and credentials. All connections have TLS and
// check who answers: to etcd, to the REST APIs of the others, to PostgreSQL (its own, too) and between PostgreSQLs.

import { HoldfastError } from '../../lib/errors.ts'
import { clientCertificate, type EtcdAccess, type Site } from '../site.ts'
import { OPERATOR, operatorPassword } from './access.ts'
import { PATHS, versionPaths } from './paths.ts'
import { postgresRoles, ROLES } from './roles.ts'
import { PATRONI_PORT, POSTGRES_PORT, type PostgresMember, type PostgresSpec } from './spec.ts'

/** First match counts, and what matches nothing is rejected; `replication` is no database, so `all` leaves it out. */
const PG_HBA: readonly string[] = [
  'local all all reject',
  'hostnossl all all all reject',
  'hostnossl replication all all reject',
  `hostssl replication ${ROLES.replication} all scram-sha-256`,
  `hostssl all ${ROLES.replication} all reject`,
  'hostssl all all all scram-sha-256',
]

export function patroniConfig(spec: PostgresSpec, member: PostgresMember, site: Site, etcd: EtcdAccess) {
  const { patroni } = spec
  const paths = { ...PATHS, ...versionPaths(site.postgresVersion) }
  const path = (name: keyof typeof paths) => site.path(member.name, paths[name])
  const { address, moreAddresses } = member
  const api = `${address}:${PATRONI_PORT}`
  const server = `${address}:${POSTGRES_PORT}`
  const roles = postgresRoles(spec, site.keyring)
  const login = (username: keyof typeof roles) => ({
    ...{ username, password: roles[username].password },
    ...{ sslmode: 'verify-full', sslrootcert: path('ca') },
  })
  return {
    scope: patroni.scope,
    namespace: patroni.namespace,
    name: member.patroniName,
    etcd3: {
      hosts: etcd.endpoints,
      protocol: 'https',
      cacert: path('etcdCa'),
      ...etcdLogin(etcd),
      ...(clientCertificate(etcd.login) !== undefined && { cert: path('etcdCertificate'), key: path('etcdKey') }),
    },
    restapi: {
      // It takes one address or all of them; only those who have a certificate get further.
      listen: moreAddresses.length === 0 ? api : `*:${PATRONI_PORT}`,
      connect_address: api,
      certfile: path('certificate'),
      keyfile: path('key'),
      cafile: path('ca'),
      verify_client: 'required',
      authentication: { username: OPERATOR, password: operatorPassword(site.keyring) },
    },
    ctl: { cacert: path('ca'), certfile: path('certificate'), keyfile: path('key') },
    postgresql: {
      // Patroni itself uses the first one.
      listen: `${[address, ...moreAddresses].join(',')}:${POSTGRES_PORT}`,
      connect_address: server,
      data_dir: path('data'),
      bin_dir: paths.programs,
      pgpass: path('pgpass'),
      // A checkpoint that takes its time would keep a new member waiting for minutes.
      basebackup: [{ checkpoint: 'fast' }],
      authentication: {
        superuser: login(ROLES.patroni),
        replication: login(ROLES.replication),
        rewind: login(ROLES.rewind),
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
    watchdog: watchdog(spec, site.watchdogDevice, path('data')),
  }
}

/** Stopping PostgreSQL takes less time than a reset, and is less often mistaken when it comes late: etcd may be slow. */
const MOST_PROCESS_MARGIN = 1

function watchdog({ patroni }: PostgresSpec, device: string | undefined, data: string) {
  const { watchdogSafetyMargin } = patroni
  if (device !== undefined) return { mode: 'automatic', device, safety_margin: watchdogSafetyMargin }
  return {
    ...{ mode: 'automatic', driver: 'holdfast', data_dir: data },
    safety_margin: Math.min(watchdogSafetyMargin, MOST_PROCESS_MARGIN),
  }
}

/** Patroni talks to etcd's gateway, which does not take the user from a certificate. */
function etcdLogin({ login }: EtcdAccess) {
  if ('username' in login) return { username: login.username, password: login.password }
  throw new HoldfastError(
    'PatroniNeedsPassword',
    'Cannot let Patroni use etcd: it is given only a client certificate; expected a user name and a password',
  )
}
