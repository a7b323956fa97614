import { expect, test } from 'vitest'
import { checkParameters } from './check-parameters.ts'
import { SERVER } from './testing.ts'

test.each<[string, Record<string, string>, RegExp]>([
  ['a name', { max_conections: '150' }, /"max_conections".*no such parameter; did you mean "max_connections"\?/u],
  ['one that is fixed', { block_size: '8192' }, /"block_size".*the server sets it itself/u],
  ['a value', { shared_buffers: 'lots' }, /it is "lots"; expected an integer from 16 to 1073741823 in units of 8kB/u],
  ['a choice', { wal_level: 'full' }, /expected one of minimal, replica, logical/u],
  ['a value out of range', { work_mem: '1kB' }, /it is "1kB"; expected an integer from 64 to/u],
  ['a boolean', { jit: 'perhaps' }, /expected on or off/u],
])('a running server tells that it does not take %s', (_, parameters, message) => {
  expect(() => checkParameters(parameters, SERVER)).toThrow(
    expect.objectContaining({ code: 'ParameterInvalid', message: expect.stringMatching(message) }),
  )
  expect(() => checkParameters(parameters, undefined)).not.toThrow()
})

test('a value that Patroni would replace by its own is refused with or without a server', () => {
  for (const server of [SERVER, undefined])
    expect(() => checkParameters({ max_connections: '10' }, server)).toThrow(/Patroni allows; expected at least 25/u)
})

test('good values, names in capitals and parameters of extensions are taken; all faults are reported at once', () => {
  checkParameters({ Max_Connections: '150', shared_buffers: '1GB', 'pg_stat_statements.max': '5' }, SERVER)
  expect(() => checkParameters({ jti: 'on', jit: 'x' }, SERVER)).toThrow(/"jti"[^\n]*\n[^\n]*"jit"/u)
})
