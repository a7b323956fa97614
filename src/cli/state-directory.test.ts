import { expect, test } from 'vitest'
import type { ServerConfig } from '../server/config.ts'
import { block } from '../server/corefile/testing.ts'
import { withState } from './state-directory.ts'

const withEtcd: ServerConfig = { blocks: [block('etcd example.org')] }
const withoutEtcd: ServerConfig = { blocks: [block('file db.example.org example.org')] }
const HOME = { HOME: '/home/ada' }

test('a flag comes before names.yaml, which comes before the default', () => {
  expect(withState({ ...withEtcd, state: '/a' }, '/b', HOME, false).state).toBe('/b')
  expect(withState({ ...withEtcd, state: '/a' }, undefined, HOME, false).state).toBe('/a')
})

test('the default is what systemd says, else a place that suits the user', () => {
  expect(withState(withEtcd, undefined, { ...HOME, STATE_DIRECTORY: '/s:/t' }, true).state).toBe('/s')
  expect(withState(withEtcd, undefined, HOME, true).state).toBe('/var/lib/holdfast')
  expect(withState(withEtcd, undefined, { ...HOME, XDG_STATE_HOME: '/x' }, false).state).toBe('/x/holdfast')
  expect(withState(withEtcd, undefined, HOME, false).state).toBe('/home/ada/.local/state/holdfast')
  expect(withState(withEtcd, undefined, {}, false).state).toBeUndefined()
})

test('without a source that can be away nothing is kept', () => {
  expect(withState(withoutEtcd, undefined, HOME, true).state).toBeUndefined()
})
