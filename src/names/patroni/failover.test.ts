// The keys of a real cluster from its start over the death of its primary to its return, as recorded by
// `npm run test:patroni -- --record`.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type KeyChange, KeyReplay } from '../../../test/slow/patroni-follower.ts'

const file = new URL('../../../test/slow/patroni-recording.json', import.meta.url)
const { changes } = JSON.parse(readFileSync(file, 'utf8')) as { changes: readonly KeyChange[] }

test('names follow a recorded failover step by step', () => {
  const replay = new KeyReplay()
  const steps: string[] = []
  for (const { revision, ...change } of changes) {
    const { primary, replica, sync } = replay.apply(change)
    // What one revision brings is published at once.
    if (steps.at(-1)?.startsWith(`${revision}:`) === true) steps.pop()
    steps.push(`${revision}: ${[primary, replica, sync].map((addresses) => addresses?.join(' ') ?? '-').join(' | ')}`)
  }
  const services = (step: string | undefined) => step?.slice(step.indexOf(' ') + 1)
  expect(steps.filter((step, index) => services(step) !== services(steps[index - 1]))).toEqual([
    '2: - | - | -',
    '13: 127.0.0.13 | - | -',
    '22: 127.0.0.13 | 127.0.0.12 | -',
    '23: 127.0.0.13 | 127.0.0.11 127.0.0.12 | -',
    '27: 127.0.0.13 | 127.0.0.11 127.0.0.12 | 127.0.0.12',
    '30: - | 127.0.0.11 127.0.0.12 | 127.0.0.12',
    '31: 127.0.0.12 | 127.0.0.11 | -',
    '43: 127.0.0.12 | 127.0.0.11 | 127.0.0.11',
    '48: 127.0.0.12 | 127.0.0.11 127.0.0.13 | 127.0.0.11',
  ])
})

test('each member has its name from its first key to its last', () => {
  const replay = new KeyReplay()
  const seen = changes.map((change) =>
    Object.keys(replay.apply(change))
      .filter((name) => name.startsWith('pg'))
      .join(' '),
  )
  expect(seen.filter((names, index) => names !== seen[index - 1])).toEqual([
    'pg3',
    'pg1 pg3',
    'pg1 pg2 pg3',
    'pg1 pg2',
    'pg1 pg2 pg3',
  ])
})
