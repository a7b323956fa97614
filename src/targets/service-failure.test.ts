import { expect, test } from 'vitest'
import { describeFailure, findDetail, type ServiceFailure } from './service-failure.ts'

const EXITED = { kind: 'exited', exitCode: 1 } as const

test.each<[string, Omit<ServiceFailure, 'at'>]>([
  ['exit code 1: FATAL: no space', { ...EXITED, detail: 'FATAL: no space' }],
  ['killed by SIGKILL', { kind: 'killed', signal: 'SIGKILL' }],
  ['cannot be started: no such file', { kind: 'unstartable', detail: 'no such file' }],
  ['exited while the supervisor was down', { kind: 'unwatched' }],
])('%s', (text, failure) => {
  expect(describeFailure(failure)).toBe(text)
})

test('the last line of a process that exits by itself is the reason', () => {
  expect(findDetail(['starting', 'the port is taken', ''], EXITED)).toBe('the port is taken')
})

test.each([
  '[INFO] Reloaded the configuration',
  '2026-11-17 10:00:00,000 INFO: no action. I am the leader',
  '2026-11-17 10:00:00.000 UTC [1] LOG:  database system is shut down',
  '{"level":"info","ts":"2026-11-17T10:00:00Z","msg":"closed etcd server"}',
  '[WARNING] 10.0.0.1 is slow',
])('a line that is no error is not shown as one: %s', (line) => {
  expect(findDetail([line], EXITED)).toBeUndefined()
  expect(findDetail([line], { kind: 'unwatched' })).toBeUndefined()
  expect(findDetail(['FATAL: lock file exists', line], EXITED)).toBe('FATAL: lock file exists')
})

test('of a process whose end nothing saw, only an error counts', () => {
  expect(findDetail(['listening on 53'], { kind: 'unwatched' })).toBeUndefined()
  expect(findDetail(['panic: out of memory', 'goroutine 1'], { kind: 'unwatched' })).toBe('panic: out of memory')
})

test('a process that was killed from outside said nothing about it', () => {
  expect(findDetail(['ERROR: something before'], { kind: 'killed', signal: 'SIGKILL' })).toBeUndefined()
  expect(findDetail(['panic: nil'], { kind: 'killed', signal: 'SIGABRT' })).toBe('panic: nil')
})

test('of a line of JSON the message is shown, of a long one its beginning, and never a control character', () => {
  const line = '{"level":"fatal","ts":"2026","msg":"cannot bind","error":"address in use"}'
  expect(findDetail([line], EXITED)).toBe('cannot bind: address in use')
  expect(findDetail(['x'.repeat(400)], EXITED)).toHaveLength(301)
  expect(findDetail(['red\u001b[2J alert'], EXITED)).toBe('red [2J alert')
})
