import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SAMPLE_MACHINES } from './host-machine.ts'
import { checkMemory } from './memory.ts'

const MIB = 1 << 20
const nothing: ReadonlySet<string> = new Set()
let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-memory-'))
  put('proc/meminfo', `MemTotal:  ${8192 * 1024} kB\nMemAvailable:    ${4096 * 1024} kB\n`)
})
afterEach(() => rmSync(root, { recursive: true }))

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

describe('memory', () => {
  test('of the host counts', () => {
    const message = '4096 MiB available; about 1272 MiB needed for 9 machines'
    expect(checkMemory(SAMPLE_MACHINES, nothing, root)).toEqual({ check: 'memory', state: 'ok', message })
  })

  test('of a control group counts where it is less, without what the group can give back', () => {
    put('proc/self/cgroup', '0::/a/b\n')
    put('sys/fs/cgroup/a/memory.max', `${1500 * MIB}\n`)
    put('sys/fs/cgroup/a/memory.current', `${1400 * MIB}\n`)
    put('sys/fs/cgroup/a/memory.stat', `anon 5\ninactive_file ${600 * MIB}\n`)
    put('sys/fs/cgroup/a/b/memory.max', 'max\n')
    put('sys/fs/cgroup/a/b/memory.current', `${1400 * MIB}\n`)
    expect(checkMemory(SAMPLE_MACHINES, nothing, root)).toMatchObject({
      state: 'warning',
      message: '700 MiB available; about 1272 MiB needed for 9 machines',
    })
  })

  test('of a control group of the first version counts as well', () => {
    put('proc/self/cgroup', '4:memory:/docker/abc\n0::/\n')
    put('sys/fs/cgroup/memory/memory.limit_in_bytes', `${512 * MIB}\n`)
    put('sys/fs/cgroup/memory/memory.usage_in_bytes', `${400 * MIB}\n`)
    expect(checkMemory(SAMPLE_MACHINES, nothing, root)).toMatchObject({
      state: 'problem',
      message: '112 MiB available; about 1272 MiB needed for 9 machines',
    })
  })

  test('is not wanted again for machines that run', () => {
    const running = new Set(SAMPLE_MACHINES.slice(1).map(({ name }) => name))
    expect(checkMemory(SAMPLE_MACHINES, running, root).message).toBe(
      '4096 MiB available; about 124 MiB needed for 1 machine',
    )
  })
})

test('this host says how much it has', () => {
  expect(checkMemory([], nothing)).toMatchObject({
    state: 'ok',
    message: expect.stringMatching(/^\d+ MiB available$/u),
  })
})
