// Where things lie on a machine with PostgreSQL, and who owns them. Shared by the machine itself and Patroni's
// configuration, which has to name them.

export const POSTGRES_USER = 'postgres'

export const PATHS = {
  /** Patroni reads every `.yml` in it. */
  config: '/etc/patroni',
  patroni: '/etc/patroni/patroni.yml',
  bootstrap: '/etc/patroni/bootstrap.yml',
  settings: '/etc/patroni/dynamic.json',
  settingsStep: '/etc/patroni/apply-settings.py',
  passwords: '/etc/patroni/passwords.json',
  ca: '/etc/patroni/ca.pem',
  etcdCa: '/etc/patroni/etcd-ca.pem',
  certificate: '/etc/patroni/server.pem',
  key: '/etc/patroni/server.key',
  /** PostgreSQL and Patroni make what is below it themselves: a member that is made anew loses its data directory. */
  home: '/var/lib/postgresql/15',
  data: '/var/lib/postgresql/15/main',
  pgpass: '/var/lib/postgresql/15/pgpass',
  /** Of the step that sets passwords: those that the superuser may have. */
  keptPasswords: '/var/lib/postgresql/15/superuser-passwords.json',
  binaries: '/usr/lib/postgresql/15/bin',
} as const
