import { expect, test } from 'vitest'
import { checkPostgresVersion } from './postgres-version.ts'

test('data needs the server that made it', async () => {
  expect(await checkPostgresVersion('15', Promise.resolve(['17', '15']))).toMatchObject([{ state: 'ok' }])
  expect(await checkPostgresVersion('15', Promise.resolve(['17', '16']))).toEqual([
    {
      check: 'postgres',
      state: 'problem',
      message: 'the data of the stack is of PostgreSQL 15, which is not installed; installed: 17, 16',
      fix: 'sudo apt-get install --no-install-recommends postgresql-15',
    },
  ])
  expect(await checkPostgresVersion('15', Promise.resolve([]))).toMatchObject([{ state: 'problem' }])
})

test('a stack without data of PostgreSQL takes whichever there is', async () => {
  expect(await checkPostgresVersion(undefined, Promise.resolve([]))).toEqual([])
})
