// Parameters of PostgreSQL that make the promises of a cluster, or are Patroni's business: they cannot be chosen in a stack
// file. Each with the reason.

const BY_PATRONI = 'Patroni sets it'
const FIXED_FILES = 'files have their fixed places'
const ONE_WAY_IN = 'members are reached at their addresses, and in no other way'
const ALWAYS_TLS = 'all connections have TLS, with certificates of the stack'

export const RESERVED_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['cluster_name', BY_PATRONI],
  ['config_file', FIXED_FILES],
  ['data_directory', FIXED_FILES],
  ['hba_file', FIXED_FILES],
  ['hot_standby', BY_PATRONI],
  ['ident_file', FIXED_FILES],
  ['listen_addresses', ONE_WAY_IN],
  ['password_encryption', 'passwords are kept for scram-sha-256'],
  ['port', ONE_WAY_IN],
  ['primary_conninfo', BY_PATRONI],
  ['primary_slot_name', BY_PATRONI],
  ['ssl', ALWAYS_TLS],
  ['ssl_cert_file', ALWAYS_TLS],
  ['ssl_key_file', ALWAYS_TLS],
  ['synchronous_standby_names', BY_PATRONI],
  ['unix_socket_directories', ONE_WAY_IN],
  ['wal_log_hints', BY_PATRONI],
])
