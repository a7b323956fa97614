import { expect, test } from 'vitest'
import { changesOf, expectedChanges, type Wanted } from './parameter-changes.ts'
import { SERVER } from './testing.ts'

const wanted = (given: Readonly<Record<string, string | undefined>>): Wanted => new Map(Object.entries(given))

test.each<[string, Readonly<Record<string, string | undefined>>, string[]]>([
  ['another value of one that needs a restart', { max_connections: '150' }, ['max_connections 100 150']],
  ['the same value in another unit', { shared_buffers: '131072kB' }, []],
  ['one that a reload changes', { work_mem: '64MB' }, []],
  ['one that goes back to what initdb wrote', { shared_buffers: undefined }, []],
  ['a name that the server does not know', { no_such: '1' }, []],
  ['automatic buffers, as they are', { wal_buffers: '-1' }, []],
  ['a library', { shared_preload_libraries: 'auto_explain' }, ['shared_preload_libraries  auto_explain']],
])('a server that answers restarts for what it says: %s', (_, given, expected) => {
  expect(changesOf(SERVER, wanted(given)).map(({ name, from, to }) => `${name} ${from} ${to}`)).toEqual(expected)
})

test("one that leaves the settings gets Patroni's own value", () => {
  const server = new Map([...SERVER, ['max_connections', { ...SERVER.get('max_connections')!, value: '150' }]] as const)
  expect(changesOf(server, wanted({ max_connections: undefined }))).toEqual([
    { name: 'max_connections', from: '150', to: '100' },
  ])
})

test.each<[string, Record<string, string>, Readonly<Record<string, string | undefined>>, string[]]>([
  ['another value', {}, { max_connections: '150' }, ['max_connections']],
  ['the usual value', {}, { max_connections: '100' }, []],
  ['the same in another unit', { shared_buffers: '1GB' }, { shared_buffers: '1024MB' }, []],
  ['one that left', { Max_Connections: '150' }, { max_connections: undefined }, ['max_connections']],
  ['one that a reload changes', {}, { work_mem: '64MB' }, []],
  ['one of an extension, which may need it', {}, { 'pg_stat_statements.max': '10' }, ['pg_stat_statements.max']],
])('without a server, the table decides: %s', (_, before, after, expected) => {
  expect(expectedChanges(before, wanted(after)).map(({ name }) => name)).toEqual(expected)
})
