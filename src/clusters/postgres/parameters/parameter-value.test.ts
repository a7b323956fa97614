import { expect, test } from 'vitest'
import { isSameText, normalValue } from './parameter-value.ts'
import type { ServerSetting } from './server-setting.ts'
import { SERVER } from './testing.ts'

test.each([
  ['max_connections', '150', '150'],
  ['max_connections', ' 0x64 ', '100'],
  ['max_connections', '150MB', undefined],
  ['max_connections', 'many', undefined],
  ['max_connections', '0', undefined],
  ['shared_buffers', '128MB', '16384'],
  ['shared_buffers', '0.5GB', '65536'],
  ['shared_buffers', '16384', '16384'],
  ['shared_buffers', '128mb', undefined],
  ['wal_receiver_timeout', '1min', '60000'],
  ['wal_receiver_timeout', '60 s', '60000'],
  ['wal_receiver_timeout', '60 kB', undefined],
  ['wal_level', 'Replica', 'replica'],
  ['wal_level', 'hot_standby', 'replica'],
  ['wal_level', 'full', undefined],
  ['archive_mode', 'true', 'on'],
  ['jit', 'YES', 'on'],
  ['jit', 'f', 'off'],
  ['jit', 'maybe', undefined],
  ['seq_page_cost', '1.50', '1.5'],
  ['shared_preload_libraries', 'pg_stat_statements', 'pg_stat_statements'],
])('%s of "%s" is %s', (name, text, expected) => {
  expect(normalValue(SERVER.get(name) as ServerSetting, text)).toBe(expected)
})

test.each([
  ['128MB', '131072kB', true],
  ['1min', '60s', true],
  ['on', 'true', true],
  ['100', '100.0', true],
  ['128MB', '128', false],
  ['a', 'b', false],
])('"%s" and "%s" are the same without a server: %s', (one, other, expected) => {
  expect(isSameText(one, other)).toBe(expected)
})
