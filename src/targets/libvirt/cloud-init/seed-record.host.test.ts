import { expect, test } from 'vitest'
import { exampleMachines } from '../../../../test/support/cloud-init-examples.ts'
import { reveal } from '../../../machine/content.ts'
import { readSeedJson, seedJson } from './seed-record.ts'

test('a machine is read back as it was written', async () => {
  const [{ machine }] = await exampleMachines('postgres-network-id')
  const existing = readSeedJson(seedJson(machine, 'abc'))
  expect(existing).toMatchObject({ name: 'postgres-1', kind: 'postgres', address: '192.168.122.158' })
  expect(existing?.services).toEqual(machine.services)
  expect(existing?.pending.size).toBe(0)
  expect(existing?.setup).toBe('abc')
  expect([...(existing?.files ?? [])]).toEqual(
    machine.files.map(({ path, owner, mode, content }) => [path, { owner, mode, text: reveal(content) }]),
  )
  expect(existing?.directories.get('/var/lib/postgresql/15')).toEqual({ owner: 'postgres', mode: 0o700, isData: true })
  expect(existing?.directories.get('/etc/patroni')?.isData).toBe(false)
})

test('anything else is nothing', () => {
  expect(readSeedJson('')).toBeUndefined()
  expect(readSeedJson('{}')).toBeUndefined()
})
