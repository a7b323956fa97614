// Where things lie on a machine with PostgreSQL, and who owns them. Shared by the machine itself and Patroni's
// configuration, which has to name them.

export const POSTGRES_USER = 'postgres'

export const PATHS = {
  /** Patroni reads every `.yml` in it. */
  config: '/etc/patroni',
  patroni: '/etc/patroni/patroni.yml',
  bootstrap: '/etc/patroni/bootstrap.yml',
  settings: '/etc/patroni/dynamic.json',
  start: '/etc/patroni/start-patroni.py',
  clearUnfinished: '/etc/patroni/clear-unfinished.py',
  replaceData: '/etc/patroni/replace_data.py',
  keptData: '/etc/patroni/kept_data.py',
  fencing: '/etc/patroni/fencing.py',
  fence: '/etc/patroni/fence.py',
  settingsStep: '/etc/patroni/apply-settings.py',
  roles: '/etc/patroni/roles.json',
  ca: '/etc/patroni/ca.pem',
  etcdCa: '/etc/patroni/etcd-ca.pem',
  etcdCertificate: '/etc/patroni/etcd-client.pem',
  etcdKey: '/etc/patroni/etcd-client.key',
  certificate: '/etc/patroni/server.pem',
  key: '/etc/patroni/server.key',
} as const

/** Debian keeps data and programs by PostgreSQL's major version: a newer server does not touch the data of an older one. */
export function versionPaths(version: string) {
  const home = `/var/lib/postgresql/${version}`
  return {
    /** PostgreSQL and Patroni make what is below it themselves: a member that is made anew loses its data directory. */
    home,
    data: `${home}/main`,
    pgpass: `${home}/pgpass`,
    programs: `/usr/lib/postgresql/${version}/bin`,
  }
}
