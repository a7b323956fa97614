// The program that stops PostgreSQL when its Patroni hangs, with a process in the place of PostgreSQL.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { programUrl } from '../../src/clusters/postgres/programs.ts'

const PYTHON = '/usr/bin/python3'
const LONG_SECONDS = 1000
let directory: string
let data: string
let children: ChildProcess[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-fence-'))
  data = join(directory, 'main')
  mkdirSync(data)
  children = []
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(directory, { recursive: true })
})

/** A process in the place of a postmaster; `program` says what it does. */
async function server(program = 'import time; time.sleep(600)', cwd = data): Promise<ChildProcess> {
  const child = spawn(PYTHON, ['-c', `print("begun", flush=True); ${program}`], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  children.push(child)
  await once(child.stdout ?? child, 'data')
  writeFileSync(join(data, 'postmaster.pid'), `${child.pid}\n`)
  return child
}

function fence() {
  const child = spawn(PYTHON, [fileURLToPath(programUrl('fence')), data])
  children.push(child)
  return {
    child,
    /** `ageSeconds`: as if it had been said so long ago. */
    keep: (seconds: number, ageSeconds = 0) => child.stdin.write(`${seconds} ${bootSeconds() - ageSeconds}\n`),
    ended: once(child, 'exit'),
  }
}

/** CLOCK_BOOTTIME, of which Node has no reading: it is ahead of CLOCK_MONOTONIC by the time that the machine has slept. */
const asleep = 'import time; print(time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC))'
const asleepSeconds = Number(execFileSync(PYTHON, ['-c', asleep], { encoding: 'utf8' }))
function bootSeconds(): number {
  return Number(process.hrtime.bigint()) / 1e9 + asleepSeconds
}

const isAlive = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null

test('PostgreSQL is stopped when the time is over', async () => {
  const postgres = await server()
  const ended = once(postgres, 'exit')
  const { keep, ended: fenceEnded } = fence()
  keep(LONG_SECONDS)
  keep(0.1)
  expect(await ended).toEqual([null, 'SIGQUIT'])
  expect(await fenceEnded).toEqual([0, null])
})

test('time passes from when Patroni said it, not from when it is heard', async () => {
  const postgres = await server()
  const ended = once(postgres, 'exit')
  fence().keep(LONG_SECONDS, LONG_SECONDS)
  await ended
})

test('a PostgreSQL that hangs as well is ended by force', async () => {
  const postgres = await server('import signal, time; signal.signal(signal.SIGQUIT, signal.SIG_IGN); time.sleep(600)')
  const ended = once(postgres, 'exit')
  fence().keep(0)
  expect(await ended).toEqual([null, 'SIGKILL'])
})

test.each([
  ['Patroni no longer leads', 'close\n'],
  ['Patroni has ended', ''],
])('nothing is stopped when %s', async (_, lastWords) => {
  const postgres = await server()
  const { child, keep, ended } = fence()
  keep(LONG_SECONDS)
  child.stdin.end(lastWords)
  expect(await ended).toEqual([0, null])
  expect(isAlive(postgres)).toBe(true)
})

test('a process that has the number of a postmaster that is gone is left alone', async () => {
  const other = await server(undefined, directory)
  const { keep, ended } = fence()
  keep(0)
  expect(await ended).toEqual([0, null])
  expect(isAlive(other)).toBe(true)
})
