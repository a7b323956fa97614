// Settings of a server for tests: what pg_settings of PostgreSQL 15 has for them.

import type { ServerSetting, ServerSettings } from './server-setting.ts'

const BASE: ServerSetting = {
  ...{ name: '', value: '', unit: undefined, type: 'integer', context: 'postmaster' },
  ...{ minimum: undefined, maximum: undefined, choices: [], fallback: undefined, isPending: false },
}

export function settings(...given: readonly (Partial<ServerSetting> & { readonly name: string })[]): ServerSettings {
  return new Map(given.map((each) => [each.name, { ...BASE, ...each }]))
}

export const SERVER = settings(
  { name: 'max_connections', value: '100', minimum: 1, maximum: 262_143, fallback: '100' },
  { name: 'max_worker_processes', value: '8', minimum: 0, maximum: 262_143, fallback: '8' },
  { name: 'shared_buffers', value: '16384', unit: '8kB', minimum: 16, maximum: 1_073_741_823, fallback: '128MB' },
  { name: 'wal_buffers', value: '512', unit: '8kB', minimum: -1, maximum: 262_143, fallback: '-1' },
  { name: 'wal_level', value: 'replica', type: 'enum', choices: ['minimal', 'replica', 'logical'] },
  { name: 'work_mem', value: '4096', unit: 'kB', context: 'user', minimum: 64, maximum: 2_147_483_647 },
  { name: 'archive_mode', value: 'off', type: 'enum', choices: ['always', 'on', 'off'], fallback: 'off' },
  { name: 'wal_receiver_timeout', value: '60000', unit: 'ms', context: 'sighup', minimum: 0, maximum: 2_147_483_647 },
  { name: 'block_size', value: '8192', context: 'internal' },
  { name: 'jit', value: 'on', type: 'bool', context: 'user' },
  { name: 'seq_page_cost', value: '1', type: 'real', context: 'user', minimum: 0, maximum: 1.797e308 },
  { name: 'shared_preload_libraries', value: '', type: 'string', fallback: '' },
)
