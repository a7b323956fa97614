// What the supervisor does for services that end, will not end, or leave something behind.

import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LocalTarget } from '../../src/targets/local/local-target.ts'
import { rootOf } from '../../src/targets/local/layout.ts'
import { commandOf, readProcess, workingDirectoryOf } from '../../src/targets/local/supervisor/process-table.ts'
import { isRoot, LocalStack, machine, service, SUPERVISE } from '../support/local-stack.ts'
import { until } from '../support/until.ts'

let stack: LocalStack
beforeEach(() => {
  stack = new LocalStack()
})
afterEach(() => stack.close())

const SLEEP = 'exec sleep 1000'

test('a service that is killed is started again, and the reason is kept', async () => {
  await stack.up(machine('m', [service('a', 'echo last words; exec sleep 1000'), service('b', SLEEP)]))
  const [a, b] = [await stack.running('m', 'a'), await stack.running('m', 'b')]
  await until('its words', () => stack.log('m', 'a') !== '')
  process.kill(a, 'SIGKILL')
  await stack.running('m', 'a', a)
  expect(await stack.state('m', 'a')).toMatchObject({
    restarts: 1,
    failure: { kind: 'killed', signal: 'SIGKILL', at: expect.any(Number) },
  })
  expect(await stack.state('m', 'b')).toMatchObject({ pid: b, restarts: 0, failure: undefined })
})

test('a program that is not there is told as the reason, and tried again', async () => {
  await stack.up(machine('m', [service('a', '', { command: ['/no/such/program'] })]))
  const state = await until('two tries', async () => {
    const now = await stack.state('m', 'a')
    return now.restarts >= 2 ? now : undefined
  })
  expect(state.failure?.detail).toMatch(/not found|no such file or directory/iu)
})

test('services run with their own user, in a session of their own, in the root of their machine', async () => {
  await stack.up(machine('m', [service('a', SLEEP, { bindsLowPorts: true })]))
  const pid = await stack.running('m', 'a')
  expect(readProcess(pid)).toMatchObject({ session: pid, hasTerminal: false })
  expect(workingDirectoryOf(pid)).toBe(rootOf(stack.layout, 'm'))
  await until('the service itself', () => commandOf(pid).join(' ') === 'sleep 1000')
})

test('a service that ignores its stop signal is killed', async () => {
  const deaf = 'trap "" TERM; echo deaf; while :; do sleep 0.05; done'
  await stack.up(machine('m', [service('a', deaf, { stopTimeoutMs: 300 })]))
  await until('it to be deaf', () => stack.log('m', 'a') === 'deaf\n')
  await stack.target.stop('m')
  expect(stack.processes('m')).toEqual([])
  expect(await stack.state('m', 'a')).toMatchObject({ state: 'stopped', failure: undefined })
})

test('what a service has left behind stays when it is started again, and ends with the machine', async () => {
  const script = 'setsid sh -c "echo $$ >&2; exec sleep 2000" & echo left; exec sleep 1000'
  await stack.up(machine('m', [service('a', script)]))
  const a = await stack.running('m', 'a')
  const orphan = await until('what it starts', () =>
    stack.processes('m').find((pid) => commandOf(pid).join(' ') === 'sleep 2000'),
  )
  process.kill(a, 'SIGKILL')
  await stack.running('m', 'a', a)
  expect(readProcess(orphan)).toBeDefined()
  await stack.target.stop('m')
  expect(readProcess(orphan)).toBeUndefined()
  expect(stack.processes('m')).toEqual([])
})

test.skipIf(!isRoot)('a person who works in the root of a machine is not ended with it', async () => {
  await stack.up(machine('m', [service('a', SLEEP)]))
  const person = spawn('sleep', ['1000'], { cwd: rootOf(stack.layout, 'm'), stdio: 'ignore' })
  try {
    await stack.target.stop('m')
    expect(person.exitCode).toBeNull()
    expect(readProcess(person.pid ?? 0)).toBeDefined()
  } finally {
    person.kill('SIGKILL')
  }
})

test('when nothing is to run any more, the supervisor and its keeper end; with work, they are back', async () => {
  const made = machine('m', [service('a', SLEEP)])
  await stack.up(made)
  const keeper = await stack.keeper()
  await stack.target.stop('m')
  await until('their end', () => !stack.target.overseer().isThere && readProcess(keeper) === undefined)
  await stack.target.start(made)
  await stack.running('m', 'a')
  await stack.target.remove('m', { keepData: false })
  await stack.target.shutdown()
  expect(stack.target.overseer().isThere).toBe(false)
})

test('a supervisor that is told to end leaves everything running, and the next one takes it over', async () => {
  const made = machine('m', [service('a', SLEEP)])
  await stack.up(made)
  const pid = await stack.running('m', 'a')
  await stack.target.shutdown()
  expect(await stack.state('m', 'a')).toMatchObject({ state: 'running', pid })
  process.kill(pid, 'SIGKILL')
  await until('its end', async () => (await stack.state('m', 'a')).state === 'stopped')
  expect((await stack.state('m', 'a')).failure).toMatchObject({ kind: 'unwatched' })
  await stack.target.start(made)
  await stack.running('m', 'a', pid)
})

test('another version of the program takes over, and services do not notice', async () => {
  const made = machine('m', [service('a', SLEEP)])
  await stack.up(made)
  const [pid, before] = [await stack.running('m', 'a'), await stack.supervisor()]
  const program = [SUPERVISE[0], '--no-warnings', ...SUPERVISE.slice(1)]
  await new LocalTarget({ directory: stack.directory, isRoot, program }).start(made)
  const after = await stack.supervisor(before)
  expect(commandOf(after)).toContain('--no-warnings')
  expect(await stack.state('m', 'a')).toMatchObject({ state: 'running', pid, restarts: 0 })
})

test('copies of the program that nothing uses are removed', async () => {
  const programs = join(stack.directory, 'program')
  for (const name of ['old', 'used']) mkdirSync(join(programs, name), { recursive: true })
  const command = ['sh', '-c', SLEEP, join(programs, 'used/main.ts')]
  await stack.up(machine('m', [service('a', '', { command })]))
  await stack.target.settle()
  expect(readdirSync(programs)).toEqual(['used'])
})

test('what tells of the supervisor is there again when somebody has removed it', async () => {
  await stack.up(machine('m', [service('a', SLEEP)]))
  const [supervisor, a] = [await stack.supervisor(), await stack.running('m', 'a')]
  rmSync(stack.layout.observed, { recursive: true })
  rmSync(stack.layout.pid)
  expect(await stack.supervisor()).toBe(supervisor)
  expect(await stack.running('m', 'a')).toBe(a)
})

test('a service whose machine lost its directory does not end the supervision of others', async () => {
  await stack.up(machine('m', [service('a', SLEEP)]))
  await stack.up(machine('n', [service('a', SLEEP)]))
  const [m, n] = [await stack.running('m', 'a'), await stack.running('n', 'a')]
  rmSync(join(rootOf(stack.layout, 'm')), { recursive: true })
  process.kill(m, 'SIGKILL')
  process.kill(n, 'SIGKILL')
  await stack.running('n', 'a', n)
  expect(await stack.state('m', 'a')).toMatchObject({ state: 'waiting' })
})
