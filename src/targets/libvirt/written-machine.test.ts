import { expect, test } from 'vitest'
import { file, machine, service } from '../../../test/support/local-stack.ts'
import { reveal } from '../../machine/content.ts'
import { readSeedJson, SEED_RECORD, type WrittenMachine } from './cloud-init/seed-record.ts'
import type { Placement } from './placement.ts'
import {
  applyRequest,
  pendingAfter,
  seedFiles,
  setupChange,
  withInitialFiles,
  withoutPending,
} from './written-machine.ts'

const A = service('a', '')
const B = service('b', '')
const PLACEMENT: Placement = {
  ...{ stack: 's', domain: 's-m', uuid: '', instanceId: 'i', kind: 'lxc', domainType: 'lxc', arch: 'x86_64' },
  interfaces: [],
  disks: {
    root: { path: '/root', format: 'dir', isOurs: false },
    seed: { path: '/seed', format: 'dir', isOurs: true },
    ...{ data: undefined, program: undefined },
  },
}

function existing(files: Readonly<Record<string, string>>, directories: readonly string[] = []): WrittenMachine {
  return {
    ...{ name: 'm', kind: 'etcd', address: '', services: [], pending: new Map(), adminPassword: undefined, setup: '' },
    files: new Map(Object.entries(files).map(([path, text]) => [path, { owner: 'o', mode: 0o644, text }])),
    directories: new Map(directories.map((path) => [path, { owner: 'o', mode: 0o755, isData: path.includes('data') }])),
  }
}

test('initial files stay as they were written first', () => {
  const made = machine('m', [], { files: [{ ...file('/a', 'new'), isInitial: true }, file('/b', 'new')] })
  const texts = (before?: WrittenMachine) => withInitialFiles(made, before).files.map(({ content }) => reveal(content))
  expect(texts()).toEqual(['new', 'new'])
  expect(texts(existing({ '/a': 'old', '/b': 'old' }))).toEqual(['old', 'new'])
})

test('files and directories that are there no longer are removed, what is inside first; data stay', () => {
  const made = machine('m', [A], { files: [file('/etc/kept', '')] })
  const before = existing({ '/etc/kept': '', '/x/y/gone': '' }, ['/x', '/x/y', '/data'])
  const request = applyRequest(made, PLACEMENT, before, { leftovers: ['/earlier', '/etc/kept'] })
  expect(request.remove).toEqual(['/earlier', '/x/y/gone', '/x/y', '/x'])
  expect(request.units?.map(({ name }) => name)).toEqual(['holdfast-a.service'])
  expect(request.removeUnits).toBeUndefined()
})

test('who reads what has changed is pending, by a restart rather than a reload, if it was started', () => {
  const made = machine('m', [A, B], {
    files: [
      file('/1', 'new', { restart: 'a' }),
      file('/2', 'new', { reload: 'a' }),
      file('/3', 'new', { reload: 'b' }),
    ],
  })
  const started = [A, B]
  expect(pendingAfter(made, existing({ '/1': 'old', '/2': 'old', '/3': 'new' }), { started })).toEqual({ a: 'restart' })
  expect(pendingAfter(made, existing({ '/1': 'new', '/2': 'old', '/3': 'old' }), { started })).toEqual({
    ...{ a: 'reload', b: 'reload' },
  })
  expect(pendingAfter(made, undefined, { started: [B] })).toEqual({ b: 'reload' })
})

test('what was pending stays so until it was done', () => {
  const made = machine('m', [A], { files: [file('/2', 'new', { reload: 'a' })] })
  const pending = pendingAfter(made, existing({ '/2': 'old' }), { started: [A], pending: { a: 'restart' } })
  expect(pending).toEqual({ a: 'restart' })
  expect(withoutPending(pending, ['a'])).toEqual({})
})

test('another way to set machines up is a change, other services are none', () => {
  const made = machine('m', [A])
  const json = seedFiles(made, PLACEMENT).get(SEED_RECORD) as string
  const written = readSeedJson(json)
  expect(setupChange(made, PLACEMENT, written)).toEqual([])
  expect(setupChange(machine('m', [A, B]), PLACEMENT, written)).toEqual([])
  const before = readSeedJson(json.replace(/"setup": "[^"]*"/u, '"setup": "other"'))
  expect(setupChange(made, PLACEMENT, before)).toMatchObject([{ name: 'setup', from: 'other', takes: 'live' }])
})
