import { expect, test } from 'vitest'
import { logFormatter } from './log-lines.ts'

test('lines of all machines are aligned', () => {
  const format = logFormatter(['etcd-1', 'postgres-1'], false)
  expect(format({ machine: 'postgres-1', service: 'patroni', line: 'no action. I am the leader' })).toBe(
    'postgres-1  patroni | no action. I am the leader\n',
  )
  expect(format({ machine: 'etcd-1', service: 'etcd', line: '' })).toBe('etcd-1      etcd    |\n')
})

test('each machine has its colour', () => {
  const format = logFormatter(['a', 'b'], true)
  expect(format({ machine: 'a', service: 's', line: 'x' })).toBe('\u001b[36ma  s |\u001b[39m x\n')
  expect(format({ machine: 'b', service: 's', line: 'x' })).toBe('\u001b[33mb  s |\u001b[39m x\n')
})

test('what a service writes does not steer the terminal; its colours and tabs do not disturb', () => {
  const format = logFormatter(['a'], false)
  const line = '\u001b[31mred\u001b[0m\tend\u001b[2J\u0007\b\r'
  expect(format({ machine: 'a', service: 's', line })).toBe('a  s | red    end??\n')
})
