import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { APPLY_PROGRAM, type Applied, type ApplyRequest, type GuestState } from './apply-program.ts'
import { service } from '../../../../test/support/local-stack.ts'
import { machineState } from '../service-states.ts'

const { username: owner } = userInfo()
const isRoot = process.getuid?.() === 0

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-apply-'))
  write('/apply.py', APPLY_PROGRAM)
})
afterEach(() => rmSync(root, { recursive: true }))

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  chmodSync(join(root, path), mode)
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const modeOf = (path: string) => statSync(join(root, path)).mode & 0o7777

function apply(request: ApplyRequest | string, ...words: readonly string[]) {
  return spawnSync('/usr/bin/python3', [join(root, 'apply.py'), ...words], {
    input: typeof request === 'string' ? request : JSON.stringify(request),
    encoding: 'utf8',
    env: { HOLDFAST_ROOT: root, PATH: `${join(root, 'bin')}:/usr/bin:/bin` },
  })
}

function applied(request: ApplyRequest): Applied {
  const { stdout, stderr } = apply(request)
  expect(stderr).toBe('')
  return JSON.parse(stdout) as Applied
}

describe('files and directories', () => {
  const directory = { path: '/etc/a', owner, mode: 0o750 }
  const file = { path: '/etc/a/x', owner, mode: 0o600, text: 'one ä\n' }

  test('are made with owner and mode, and only told when anything had to be done', () => {
    expect(applied({ directories: [directory], files: [file] })).toEqual({ changed: ['/etc/a', '/etc/a/x'], units: [] })
    expect([read('/etc/a/x'), modeOf('/etc/a'), modeOf('/etc/a/x')]).toEqual(['one ä\n', 0o750, 0o600])
    expect(applied({ directories: [directory], files: [file] })).toEqual({ changed: [], units: [] })
    expect(applied({ files: [{ ...file, mode: 0o640 }] }).changed).toEqual(['/etc/a/x'])
    expect(applied({ files: [{ ...file, mode: 0o640, text: 'two\n' }] }).changed).toEqual(['/etc/a/x'])
    expect([read('/etc/a/x'), modeOf('/etc/a/x')]).toEqual(['two\n', 0o640])
    expect(readdirSync(join(root, 'etc/a'))).toEqual(['x'])
  })

  test('that only the first start reads are left alone when they are there', () => {
    const initial = { ...file, isInitial: true }
    expect(applied({ files: [initial] }).changed).toEqual(['/etc/a/x'])
    expect(applied({ files: [{ ...initial, text: 'two' }] }).changed).toEqual([])
    expect(read('/etc/a/x')).toBe('one ä\n')
  })

  test('are removed, directories only when they are empty', () => {
    write('/etc/a/x', '')
    write('/etc/a/y', '')
    expect(applied({ remove: ['/etc/a/x', '/etc/a', '/etc/none/z'] }).changed).toEqual(['/etc/a/x'])
    expect(applied({ remove: ['/etc/a/y', '/etc/a'] }).changed).toEqual(['/etc/a/y', '/etc/a'])
    expect(existsSync(join(root, 'etc/a'))).toBe(false)
  })

  test('are all left as they were when one of them cannot be written', () => {
    write('/etc/a/x', 'old')
    mkdirSync(join(root, 'etc/a/z'))
    const { status, stdout, stderr } = apply({ files: [file, { ...file, path: '/etc/a/x/below' }] })
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Cannot write "/etc/a/x/below": Not a directory\n',
    })
    expect([read('/etc/a/x'), readdirSync(join(root, 'etc/a'))]).toEqual(['old', ['x', 'z']])
  })

  test('of nobody are refused in one line', () => {
    const { status, stderr } = apply({ files: [file, { ...file, path: '/etc/b', owner: 'nobody-there' }] })
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'there is no user "nobody-there"\n' })
    expect(existsSync(join(root, 'etc'))).toBe(false)
    expect(apply('{"files": 1').stderr).toMatch(/^Cannot read the request: .*\n$/u)
  })

  test('replace symbolic links instead of following them', () => {
    write('/secret', 'stays')
    mkdirSync(join(root, 'etc/a'), { recursive: true })
    symlinkSync(join(root, 'secret'), join(root, 'etc/a/x'))
    expect(applied({ files: [file] }).changed).toEqual(['/etc/a/x'])
    expect([read('/etc/a/x'), read('/secret')]).toEqual(['one ä\n', 'stays'])
  })

  test.skipIf(!isRoot)('are not written through a symbolic link of somebody else', () => {
    mkdirSync(join(root, 'etc'))
    mkdirSync(join(root, 'var'))
    symlinkSync(join(root, 'etc'), join(root, 'var/link'))
    execFileSync('chown', ['-h', 'nobody', join(root, 'var/link')])
    const { stderr } = apply({ files: [{ ...file, path: '/var/link/x' }] })
    expect(stderr).toBe('Cannot write "/var/link/x": "link" is a symbolic link that is not of root\n')
    expect(readdirSync(join(root, 'etc'))).toEqual([])
  })

  test.skipIf(!isRoot)('belong to their owner and its group', () => {
    applied({ files: [{ ...file, owner: 'nobody' }] })
    const { uid, gid } = statSync(join(root, 'etc/a/x'))
    expect([uid, gid]).toEqual(['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'nobody']))))
  })
})

/** There is no systemd to ask here: these write down what they are asked, and answer what a real one has answered. */
function pretendSystemd(
  answers: { readonly show?: string; readonly end?: string; readonly line?: string } = {},
): () => string[] {
  write('/show', answers.show ?? '')
  write('/end', answers.end ?? '')
  write('/line', answers.line ?? '')
  write('/bin/systemctl', `#!/bin/sh\necho "$@" >> ${root}/asked\n[ "$1" != show ] || cat ${root}/show\n`, 0o755)
  write(
    '/bin/journalctl',
    `#!/bin/sh\ncase "$*" in *--output=json*) cat ${root}/end ;; *) cat ${root}/line ;; esac\n`,
    0o755,
  )
  return () => (existsSync(join(root, 'asked')) ? read('/asked').trim().split('\n') : [])
}

test('a password is set, or locked when there is none; nobody by that name is no error', () => {
  write('/bin/chpasswd', `#!/bin/sh\ncat >> ${root}/asked\n`, 0o755)
  write('/bin/usermod', `#!/bin/sh\necho "$@" >> ${root}/asked\n`, 0o755)
  applied({ password: { user: owner, text: 'a:b c' } })
  applied({ password: { user: owner, text: null } })
  applied({ password: { user: 'nobody-by-that-name', text: 'x' } })
  expect(read('/asked')).toBe(`${owner}:a:b c\n--lock ${owner}\n`)
})

describe.skipIf(!isRoot)('units', () => {
  const request: ApplyRequest = {
    units: [{ name: 'holdfast-a.service', text: '[Service]\n' }],
    enable: ['holdfast-a.service'],
  }

  test('are written, made known and enabled', () => {
    const asked = pretendSystemd()
    expect(applied(request)).toEqual({ changed: [], units: ['holdfast-a.service'] })
    expect(asked()).toEqual(['daemon-reload', 'enable --quiet holdfast-a.service'])
    expect([read('/etc/systemd/system/holdfast-a.service'), modeOf('/etc/systemd/system/holdfast-a.service')]).toEqual([
      '[Service]\n',
      0o644,
    ])
  })

  test('that are as they should be are left alone, unless systemd has not read them yet', () => {
    write('/etc/systemd/system/holdfast-a.service', '[Service]\n')
    write('/etc/systemd/system/multi-user.target.wants/holdfast-a.service', '')
    const asked = pretendSystemd({ show: 'NeedDaemonReload=no\n' })
    expect(applied(request).units).toEqual([])
    expect(asked()).toEqual(['show --property=NeedDaemonReload holdfast-a.service'])
    pretendSystemd({ show: 'NeedDaemonReload=yes\n' })
    expect(applied(request).units).toEqual([])
    expect(asked().at(-1)).toBe('daemon-reload')
  })

  test('are stopped before they are removed', () => {
    write('/etc/systemd/system/holdfast-a.service', '')
    const asked = pretendSystemd()
    expect(applied({ removeUnits: ['holdfast-a.service', 'holdfast-b.service'] }).units).toEqual(['holdfast-a.service'])
    expect(asked()).toEqual([
      'disable --now --quiet holdfast-a.service',
      'reset-failed --quiet holdfast-a.service',
      'daemon-reload',
    ])
    expect(existsSync(join(root, 'etc/systemd/system/holdfast-a.service'))).toBe(false)
  })
})

describe('states', () => {
  const shown = (name: string, active: string, sub: string, more: string) =>
    `Id=holdfast-${name}.service\nActiveState=${active}\nSubState=${sub}\nStateChangeTimestamp=Mon 2026-11-16 09:50:08 UTC\n${more}`
  const fine = 'NRestarts=0\nResult=success\nExecMainStatus=0\n'

  test('are those of services', () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) write(`/etc/systemd/system/holdfast-${name}.service`, '')
    pretendSystemd({
      show: [
        shown('a', 'active', 'running', `${fine}MainPID=42\n`),
        shown('b', 'active', 'exited', `${fine}MainPID=0\n`),
        shown('c', 'activating', 'auto-restart', 'NRestarts=3\nResult=exit-code\nExecMainStatus=78\nMainPID=0\n'),
        shown('d', 'inactive', 'dead', `${fine}MainPID=0\n`),
        shown('e', 'failed', 'failed', 'NRestarts=0\nResult=exit-code\nExecMainStatus=78\nMainPID=0\n'),
      ].join('\n'),
      end: '{"EXIT_CODE":"exited","EXIT_STATUS":"78","INVOCATION_ID":"1"}\n',
      line: 'oh no\n',
    })
    const { stdout, stderr } = apply('', 'state')
    expect(stderr).toBe('')
    const at = { since: Date.UTC(2026, 10, 16, 9, 50, 8), restarts: 0, pid: undefined, failure: undefined }
    const failure = { at: at.since, kind: 'exited', exitCode: 78, detail: 'oh no' }
    const services = ['a', 'b', 'c', 'd', 'e'].map((name) => service(name, ''))
    const { units, disk } = JSON.parse(stdout) as GuestState
    expect(disk === null || (disk !== undefined && disk.totalBytes >= disk.freeBytes)).toBe(true)
    const { services: states } = machineState(services, units)
    expect(Object.fromEntries(states)).toEqual({
      a: { ...at, state: 'running', pid: 42 },
      b: { ...at, state: 'done' },
      c: { ...at, state: 'waiting', restarts: 3, failure },
      d: { ...at, state: 'stopped' },
      e: { ...at, state: 'stopped', failure },
    })
  })

  test('there are none where there are no units', () => {
    expect(JSON.parse(apply('', 'state').stdout)).toMatchObject({ units: [] })
    expect(apply('', 'status').stderr).toBe('Cannot do "status": it is no command of apply.py\n')
  })
})
