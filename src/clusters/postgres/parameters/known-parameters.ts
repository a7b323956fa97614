// What is known of PostgreSQL's parameters without a server: which of them need a restart, which ones standbys must not have
// smaller than their primary, and those that Patroni itself has a default and a lower limit for.

/** Changed at a restart only, in one of the versions 13 to 18. A running server knows it better (pg_settings.context). */
export const RESTART_PARAMETERS: ReadonlySet<string> = new Set([
  ...['archive_mode', 'autovacuum_freeze_max_age', 'autovacuum_max_workers', 'autovacuum_multixact_freeze_max_age'],
  ...['autovacuum_worker_slots', 'bonjour', 'bonjour_name', 'cluster_name', 'commit_timestamp_buffers', 'config_file'],
  ...['data_directory', 'data_sync_retry', 'debug_io_direct', 'dynamic_shared_memory_type', 'event_source'],
  ...['external_pid_file', 'hba_file', 'hot_standby', 'huge_page_size', 'huge_pages', 'ident_file'],
  ...['ignore_invalid_pages', 'io_max_combine_limit', 'io_max_concurrency', 'io_method', 'jit_provider'],
  ...['listen_addresses', 'logging_collector', 'max_active_replication_origins', 'max_connections'],
  ...['max_files_per_process', 'max_locks_per_transaction', 'max_logical_replication_workers'],
  ...['max_notify_queue_pages', 'max_pred_locks_per_transaction', 'max_prepared_transactions'],
  ...['max_replication_slots', 'max_wal_senders', 'max_worker_processes', 'min_dynamic_shared_memory'],
  ...['multixact_member_buffers', 'multixact_offset_buffers', 'notify_buffers', 'old_snapshot_threshold', 'port'],
  ...['recovery_target', 'recovery_target_action', 'recovery_target_inclusive', 'recovery_target_lsn'],
  ...['recovery_target_name', 'recovery_target_time', 'recovery_target_timeline', 'recovery_target_xid'],
  ...['reserved_connections', 'serializable_buffers', 'shared_buffers', 'shared_memory_type'],
  ...['shared_preload_libraries', 'subtransaction_buffers', 'superuser_reserved_connections'],
  ...['track_activity_query_size', 'track_commit_timestamp', 'transaction_buffers', 'unix_socket_directories'],
  ...['unix_socket_group', 'unix_socket_permissions', 'wal_buffers', 'wal_decode_buffer_size', 'wal_level'],
  ...['wal_log_hints'],
])

/** A standby does not run with a smaller value than its primary: it keeps the larger one until the primary has the smaller. */
export const STANDBY_PARAMETERS: ReadonlySet<string> = new Set([
  ...['max_connections', 'max_locks_per_transaction', 'max_prepared_transactions'],
  ...['max_wal_senders', 'max_worker_processes'],
])

interface PatroniOption {
  readonly usual: string
  readonly minimum?: number
}

/** Patroni gives these on the command line, its own value where the settings have none or a smaller one than it allows. */
export const PATRONI_OPTIONS: ReadonlyMap<string, PatroniOption> = new Map<string, PatroniOption>([
  ['max_connections', { usual: '100', minimum: 25 }],
  ['max_locks_per_transaction', { usual: '64', minimum: 32 }],
  ['max_prepared_transactions', { usual: '0', minimum: 0 }],
  ['max_replication_slots', { usual: '10', minimum: 4 }],
  ['max_wal_senders', { usual: '10', minimum: 3 }],
  ['max_worker_processes', { usual: '8', minimum: 2 }],
  ['track_commit_timestamp', { usual: 'off' }],
  ['wal_level', { usual: 'replica' }],
])
