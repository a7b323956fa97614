import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SAMPLE_MACHINES } from './host-machine.ts'
import { checkDisk, checkStateDirectory, nearestExisting } from './state-directory.ts'

/** Stands for `/` where the table of mounts is read. */
let root: string
let state: string

beforeEach(() => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-state-')))
  chmodSync(directory, 0o755)
  root = join(directory, 'root')
  state = join(directory, 'state')
  mkdirSync(join(root, 'proc/self'), { recursive: true })
  mkdirSync(state)
  mount('/', 'ext4')
})
afterEach(() => rmSync(join(root, '..'), { recursive: true }))

function mount(point: string, type: string, options = 'rw,relatime'): void {
  const line = `36 35 98:0 / ${point.replaceAll(' ', String.raw`\040`)} ${options} master:1 - ${type} /dev/sda rw\n`
  writeFileSync(join(root, 'proc/self/mountinfo'), `25 1 8:1 / / rw - ext4 /dev/root rw\n${line}`)
}

function check(directory: string, isRoot = false) {
  return checkStateDirectory(directory, isRoot, root)
}

describe('the state directory', () => {
  test('may still have to be made', () => {
    const directory = join(state, 'stacks/lab')
    expect(check(directory, true)).toEqual([{ check: 'state', state: 'ok', message: directory }])
    expect(nearestExisting(directory)).toBe(state)
  })

  test('must be a directory that can be written', () => {
    writeFileSync(join(state, 'file'), '')
    expect(check(join(state, 'file/lab'))).toMatchObject([
      { state: 'problem', message: `"${state}/file" is no directory` },
    ])
    expect(check('/proc/1/x/lab')).toMatchObject([{ state: 'problem', message: '"/proc/1" cannot be written' }])
  })

  test('must not be for everybody to change, unless they can change only what is theirs', () => {
    chmodSync(state, 0o777)
    expect(check(join(state, 'lab'))).toMatchObject([
      { state: 'problem', message: `anybody can change "${state}"`, fix: `chmod o-w ${state}` },
    ])
    chmodSync(state, 0o1777)
    expect(check(join(state, 'lab'))).toMatchObject([{ state: 'ok' }])
  })

  test('must let the users of services pass, when there are any', () => {
    mkdirSync(join(state, 'inner'))
    chmodSync(state, 0o700)
    const stack = join(state, 'inner/stacks/lab')
    expect(check(stack)).toMatchObject([{ state: 'ok' }])
    expect(check(stack, true)).toMatchObject([
      { state: 'problem', message: `users of services cannot pass "${state}"` },
    ])
    // Where all stacks are kept, `up` opens the way itself.
    expect(check(join(state, 'stacks/lab'), true)).toMatchObject([{ state: 'ok' }])
  })

  test.each([
    ['ext4', 'rw,noexec', 'problem', /no program can be run from ".*" \(noexec\)/u],
    ['nfs4', 'rw', 'warning', /is on the network \(nfs4\)/u],
    ['fuse.sshfs', 'rw', 'warning', /is on the network \(fuse\.sshfs\)/u],
    ['tmpfs', 'rw', 'warning', /is kept in memory \(tmpfs\)/u],
    ['btrfs', 'rw', 'ok', /state$/u],
  ])('on %s with %s: %s', (type, options, expected, message) => {
    mount(state, type, options)
    expect(check(state)).toMatchObject([{ state: expected, message: expect.stringMatching(message) }])
  })

  test('is looked at where symbolic links lead', () => {
    const real = join(state, 'with a blank')
    mkdirSync(real)
    mount(real, 'tmpfs')
    symlinkSync(real, join(state, 'link'))
    expect(check(join(state, 'link/stacks/lab'))).toMatchObject([{ state: 'warning' }])
    expect(check(state)).toMatchObject([{ state: 'ok' }])
  })

  test('must not have a path without end', () => {
    expect(check(join(state, 'x'.repeat(255), 'x'.repeat(255), 'x'.repeat(255), 'x'.repeat(255)))).toMatchObject([
      { state: 'problem', message: expect.stringMatching(/^its path has \d+ bytes; expected at most 800$/u) },
    ])
  })
})

describe('disk space', () => {
  test('is wanted for machines that are not there yet', () => {
    expect(checkDisk(state, SAMPLE_MACHINES).message).toMatch(/ MiB free at .*; about 1995 MiB needed for 9 machines$/u)
    for (const { name } of SAMPLE_MACHINES.slice(1)) mkdirSync(join(state, 'machines', name), { recursive: true })
    expect(checkDisk(state, SAMPLE_MACHINES).message).toMatch(/; about 350 MiB needed for 1 machine$/u)
  })

  test('that is not there is a problem', () => {
    const many = Array.from({ length: 100_000 }, () => SAMPLE_MACHINES[0])
    expect(checkDisk(state, many).state).toBe('problem')
  })
})
