import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { withoutDaemons, withoutMainCluster } from './quiet-install.ts'

let root: string
let policy: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-quiet-'))
  mkdirSync(join(root, 'usr/sbin'), { recursive: true })
  policy = join(root, 'usr/sbin/policy-rc.d')
})
afterEach(() => rmSync(root, { recursive: true }))

/** What invoke-rc.d would be told. */
function ask(): number {
  try {
    execFileSync(policy, ['some-daemon', 'start'], { stdio: 'ignore' })
    return 0
  } catch (error) {
    return (error as { status: number }).status
  }
}

function write(script: string): void {
  writeFileSync(policy, script)
  chmodSync(policy, 0o750)
}

describe('while packages are installed', () => {
  test('no daemon is started, and nothing is left afterwards', async () => {
    expect(await withoutDaemons(async () => ask(), root)).toBe(101)
    expect(readdirSync(join(root, 'usr/sbin'))).toEqual([])
  })

  test('the policy of the host waits, and is back afterwards as it was', async () => {
    write('#!/bin/sh\nexit 104\n')
    expect(await withoutDaemons(async () => ask(), root)).toBe(101)
    expect(ask()).toBe(104)
    expect(readdirSync(join(root, 'usr/sbin'))).toEqual(['policy-rc.d'])
  })

  test('a failure brings it back, too', async () => {
    write('#!/bin/sh\nexit 104\n')
    const failing = withoutDaemons(() => Promise.reject(new Error('no network')), root)
    await expect(failing).rejects.toThrow('no network')
    expect(ask()).toBe(104)
  })

  test('two at a time leave the policy of the host behind', async () => {
    write('#!/bin/sh\nexit 104\n')
    await withoutDaemons(() => withoutDaemons(async () => ask(), root), root)
    expect(ask()).toBe(104)
    expect(readdirSync(join(root, 'usr/sbin'))).toEqual(['policy-rc.d'])
  })
})

test('one that a killed process left behind asks the policy of the host, and the next installation clears it away', async () => {
  write('#!/bin/sh\nexit 104\n')
  let left = ''
  await withoutDaemons(async () => {
    left = readFileSync(policy, 'utf8')
  }, root)
  const ended = Number(execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }))
  writeFileSync(`${policy}.before-holdfast`, readFileSync(policy), { mode: 0o755 })
  write(left.replaceAll(String(process.pid), String(ended)))
  expect(ask()).toBe(104)

  await withoutDaemons(async () => expect(ask()).toBe(101), root)
  expect(readFileSync(policy, 'utf8')).toBe('#!/bin/sh\nexit 104\n')
  expect(readdirSync(join(root, 'usr/sbin'))).toEqual(['policy-rc.d'])
})

test('PostgreSQL makes no cluster of its own, unless somebody has decided already', async () => {
  const file = join(root, 'etc/postgresql-common/createcluster.d/no-main.conf')
  await withoutMainCluster(root)
  expect(readFileSync(file, 'utf8')).toMatch(/^create_main_cluster = false$/mu)
  writeFileSync(file, '# decided\n')
  await withoutMainCluster(root)
  expect(readFileSync(file, 'utf8')).toBe('# decided\n')
  expect(existsSync(policy)).toBe(false)
})
