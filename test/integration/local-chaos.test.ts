// Supervision through kills at any moment, damaged files and commands at the same time: in the end, everything runs
// once.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { logOf } from '../../src/targets/local/layout.ts'
import { stateFile } from '../../src/targets/local/state-file.ts'
import { allProcesses, commandOf } from '../../src/targets/local/supervisor/process-table.ts'
import { Random } from '../fuzz/random.ts'
import { LocalStack, machine, service, SUPERVISE } from '../support/local-stack.ts'
import { until } from '../support/until.ts'

let stack: LocalStack
beforeEach(() => {
  stack = new LocalStack()
})
afterEach(() => stack.close())

const SLEEP = 'exec sleep 1000'
const SEED = Number(process.env.HOLDFAST_SEED ?? Date.now() % 2 ** 31)
const random = new Random(SEED)
const MACHINES = ['m1', 'm2', 'm3']
const SERVICES = ['a', 'b']

test(`supervisor, keeper and services are killed at random: everything runs exactly once (HOLDFAST_SEED=${SEED})`, async () => {
  await Promise.all(
    MACHINES.map((name) =>
      stack.up(
        machine(
          name,
          SERVICES.map((each) => service(each, SLEEP)),
        ),
      ),
    ),
  )
  for (let round = 0; round < 20; round++) {
    const victims = [
      () => stack.supervisor(),
      () => stack.supervisor(),
      () => stack.keeper(),
      () => stack.processes(pick(MACHINES))[0],
    ]
    for (const find of [pick(victims), () => stack.processes(pick(MACHINES))[0]]) {
      const pid = await find()
      if (pid !== undefined) {
        process.kill(pid, 'SIGKILL')
        // On a busy machine a process lives on for a moment, and would be taken for one that nobody killed.
        await until('its end', () => commandOf(pid).length === 0)
      }
      await sleep(random.below(100))
    }
    // One of the two may be gone at any time; both at once would leave nobody.
    await Promise.all([stack.keeper(), stack.supervisor()])
  }
  for (const name of MACHINES) for (const each of SERVICES) await stack.running(name, each)
  for (const name of MACHINES) {
    const pids = stack.processes(name)
    expect(pids).toHaveLength(SERVICES.length)
    for (const pid of pids) await until('the service itself', () => commandOf(pid).join(' ') === 'sleep 1000')
  }
  expect(supervisors()).toHaveLength(1)
})

test('a supervisor killed between starting a process and writing that down: the next one finds it', async () => {
  const made = machine('m', [service('a', SLEEP, { command: ['sleep', '1000'] })])
  await stack.up(made)
  const pid = await stack.running('m', 'a')
  await stack.target.shutdown()
  const path = stateFile(stack.layout.observed, 'm')
  const observed = JSON.parse(readFileSync(path, 'utf8'))
  const [record] = observed.services
  writeFileSync(path, JSON.stringify({ ...observed, services: [{ ...record, state: 'starting', process: undefined }] }))
  await stack.target.start(made)
  expect(await stack.running('m', 'a')).toBe(pid)
  expect(stack.processes('m')).toEqual([pid])
})

test.each(['desired', 'observed'] as const)(
  'a damaged file of what is %s ends no service and is mended',
  async (which) => {
    const made = machine('m', [service('a', SLEEP, { command: ['sleep', '1000'] })])
    await stack.up(made)
    const pid = await stack.running('m', 'a')
    writeFileSync(stateFile(stack.layout[which], 'm'), '{"machine": "m", "serv')
    process.kill(await stack.supervisor(), 'SIGKILL')
    await stack.supervisor()
    await stack.target.start(made)
    expect(await stack.state('m', 'a')).toMatchObject({ state: 'running', pid })
    expect(stack.processes('m')).toEqual([pid])
    await stack.target.restart('m', 'a')
    await stack.running('m', 'a', pid)
    writeFileSync(stateFile(stack.layout[which], 'm'), 'nonsense')
    await stack.target.stop('m')
    expect(stack.processes('m')).toEqual([])
  },
)

test('what is desired and lost ends no service', async () => {
  await stack.up(machine('m', [service('a', SLEEP)]))
  await stack.up(machine('n', [service('a', SLEEP)]))
  const pid = await stack.running('m', 'a')
  rmSync(stateFile(stack.layout.desired, 'm'))
  await until('it to be forgotten', async () => !(await stack.target.observe()).has('m'))
  process.kill(await stack.supervisor(), 'SIGKILL')
  await stack.running('n', 'a')
  expect(stack.processes('m')).toEqual([pid])
})

test('commands that start a supervisor at the same time make one', async () => {
  const made = machine('m', [service('a', SLEEP)])
  await stack.target.write(made)
  const program = `
    import { LocalTarget } from '${new URL('../../src/targets/local/local-target.ts', import.meta.url).pathname}'
    const target = new LocalTarget(${JSON.stringify({ directory: stack.directory, isRoot: process.getuid?.() === 0, program: SUPERVISE })})
    await target.start(${JSON.stringify(made)})`
  const commands = [1, 2, 3].map(() =>
    spawn(process.execPath, ['--input-type=module-typescript', '--eval', program], {
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  )
  const ends = await Promise.all(commands.map(async (each) => (await once(each, 'exit')) as [number]))
  expect(ends.map(([code]) => code)).toEqual([0, 0, 0])
  expect(supervisors()).toHaveLength(1)
  expect(keepers()).toHaveLength(1)
  expect(stack.processes('m')).toHaveLength(1)
})

test.skipIf(!canMount())(
  'a full disk is told to whoever asks, and keeps no service from being started again',
  async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0711', 'holdfast-test', stack.directory])
    try {
      const made = machine('m', [service('a', SLEEP)])
      await stack.up(made)
      const pid = await stack.running('m', 'a')
      const ballast = join(stack.directory, 'ballast')
      expect(() => writeFileSync(ballast, Buffer.alloc(2 << 20))).toThrow('ENOSPC')
      await expect(stack.target.restart('m', 'a')).rejects.toMatchObject({
        code: 'FileUnwritable',
        message: expect.stringMatching(/^Cannot write ".*m\.json": no space left on device$/u),
      })
      process.kill(pid, 'SIGKILL')
      await until('it to run again', () => stack.processes('m').some((each) => each !== pid))
      rmSync(ballast)
      await stack.running('m', 'a', pid)
      await stack.target.remove('m', { keepData: false })
      await stack.target.shutdown()
    } finally {
      await stack.close().catch(() => undefined)
      execFileSync('umount', ['--lazy', stack.directory])
    }
  },
)

test('nobody supervises by hand', async () => {
  await stack.up(machine('m', [service('a', SLEEP)]))
  const byHand = spawn(SUPERVISE[0], [...SUPERVISE.slice(1), 'supervise', stack.directory], { stdio: 'ignore' })
  const [code] = (await once(byHand, 'exit')) as [number]
  expect(code).not.toBe(0)
  expect(supervisors()).toEqual([await stack.supervisor()])
  expect(readFileSync(logOf(stack.layout, 'm', 'a'), 'utf8')).toBe('')
})

/** Processes, not threads or the shell that waits for one. */
function supervisors(): number[] {
  return allProcesses().flatMap(({ pid }) => {
    const words = commandOf(pid)
    return words[0] === SUPERVISE[0] && words.at(-1) === stack.directory ? [pid] : []
  })
}

function keepers(): number[] {
  return allProcesses().flatMap(({ pid }) => (commandOf(pid).includes(stack.layout.keeperLock) ? [pid] : []))
}

function pick<T>(list: readonly T[]): T {
  return list[random.below(list.length)]
}

/** Root in a container may not. */
function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'holdfast-test', directory], { stdio: 'ignore' })
    execFileSync('umount', [directory])
    return true
  } catch {
    return false
  } finally {
    rmdirSync(directory)
  }
}
