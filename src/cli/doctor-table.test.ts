import { expect, test } from 'vitest'
import type { Finding } from '../targets/finding.ts'
import { formatFindings } from './doctor-table.ts'

const OK: Finding = { check: 'node', state: 'ok', message: 'Node 24.21.0' }
const WARNING: Finding = { check: 'memory', state: 'warning', message: '100 MiB available', fix: 'end other programs' }
const PROBLEM: Finding = { check: 'packages', state: 'problem', message: 'not installed: etcd\u001b[2J' }

test('each finding is a line with its mark, and what to do stands below it', () => {
  expect(formatFindings([OK, PROBLEM, WARNING], false)).toBe(
    [
      '✓ node      Node 24.21.0',
      '✗ packages  not installed: etcd?[2J',
      '! memory    100 MiB available',
      '            → end other programs',
      '',
      'Not ready: 1 problem, 1 warning',
      '',
    ].join('\n'),
  )
})

test('the end says whether a stack can run', () => {
  expect(formatFindings([OK], false)).toMatch(/\n\nReady\n$/u)
  expect(formatFindings([WARNING, WARNING], false)).toMatch(/\n\nReady, with 2 warnings\n$/u)
})

test('marks have colours where they are wanted', () => {
  const text = formatFindings([OK, WARNING, PROBLEM], true)
  expect(text).toContain('\u001b[32m✓\u001b[39m node')
  expect(text).toContain('\u001b[33m!\u001b[39m memory')
  expect(text).toContain('\u001b[31m✗\u001b[39m packages')
})
