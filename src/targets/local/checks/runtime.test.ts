import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkOpenFiles, checkRights } from './rights.ts'
import { checkClock, checkNode, checkSelinux, checkSystem, checkUdp } from './runtime.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-runtime-'))
  for (const directory of ['proc/self', 'etc', 'sys/fs/selinux']) mkdirSync(join(root, directory), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true }))

test('only Linux on x64 and arm64 will do', () => {
  writeFileSync(join(root, 'etc/os-release'), 'ID=debian\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n')
  expect(checkSystem('linux', 'arm64', root)).toMatchObject({
    state: 'ok',
    message: expect.stringMatching(/^Debian GNU\/Linux 13 \(trixie\), Linux .*, arm64$/u),
  })
  expect(checkSystem('linux', 'riscv64')).toMatchObject({
    state: 'problem',
    message: 'linux on riscv64; expected x64 or arm64',
  })
  expect(checkSystem('darwin', 'arm64')).toMatchObject({
    state: 'problem',
    message: 'darwin on arm64; expected Linux',
  })
})

test('only Node 24 or newer will do', () => {
  expect(checkNode('20.19.5').state).toBe('problem')
  expect(checkNode('24.0.0').state).toBe('ok')
  expect(checkNode()).toMatchObject({ state: 'ok', message: `Node ${process.versions.node}` })
})

test('without koffi a warning says what that means', () => {
  expect(checkUdp().state).toBe('ok')
  const broken = (report: (reason: string) => void) => {
    report('koffi cannot be loaded: no such file')
    return undefined
  }
  expect(checkUdp(broken)).toMatchObject({
    state: 'warning',
    message: 'koffi cannot be loaded: no such file; name servers will be slower',
  })
})

test('a clock that was never set is told', () => {
  expect(checkClock().state).toBe('ok')
  expect(checkClock(0)).toMatchObject({ state: 'problem', message: expect.stringMatching(/^it is 1970-01-01T/u) })
})

test('SELinux is told where it enforces', () => {
  expect(checkSelinux(root)).toEqual([])
  writeFileSync(join(root, 'sys/fs/selinux/enforce'), '1')
  expect(checkSelinux(root)).toMatchObject([{ state: 'warning' }])
})

test('root in a container may lack rights that root has', () => {
  const give = (mask: string) => writeFileSync(join(root, 'proc/self/status'), `Name:\tnode\nCapEff:\t${mask}\n`)
  give('000001ffffffffff')
  expect(checkRights(true, root).state).toBe('ok')
  // What Docker gives.
  give('00000000a80425fb')
  expect(checkRights(true, root).state).toBe('ok')
  give('0000000000000401')
  expect(checkRights(true, root)).toMatchObject({
    state: 'problem',
    message: expect.stringMatching(/^root without CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID:/u),
  })
  expect(checkRights(false, root)).toMatchObject({ state: 'ok', message: expect.stringMatching(/^not root: /u) })
})

test.each([
  ['524288', 8, 'ok'],
  ['unlimited', 1000, 'ok'],
  ['1024', 8, 'warning'],
  ['4096', 1000, 'problem'],
  ['300', 8, 'problem'],
])('with at most %s open files, %i machines: %s', (hard, machines, state) => {
  const limits = `Limit                     Soft Limit           Hard Limit           Units\nMax open files            256                  ${hard}               files\n`
  writeFileSync(join(root, 'proc/self/limits'), limits)
  expect(checkOpenFiles(machines, root).state).toBe(state)
})
