// The scripts that a machine runs, run here.

import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HARDWARE } from '../../../../test/support/machine-spec.ts'
import { placementOf } from '../../../../test/support/cloud-init-examples.ts'
import { reveal } from '../../../machine/content.ts'
import type { Machine } from '../../../machine/machine.ts'
import { dataFiles } from './data-disk.ts'
import { SET_ASIDE } from './first-boot.ts'
import { INSTALL_PROGRAM } from './program-copy.ts'

const machine: Machine = {
  name: 'm-1',
  kind: 'etcd',
  address: '10.0.0.1',
  hardware: { ...HARDWARE, dataVolumeId: '/images/data' },
  packages: [],
  directories: [{ path: '/var/lib/etcd', owner: 'etcd', mode: 0o700, isData: true }],
  files: [],
  services: [],
  ports: [],
}
const [PREPARE, OWN] = dataFiles(machine, placementOf(machine, 'lab')).map(({ content }) => reveal(content))

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-scripts-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function sh(script: string, ...words: readonly string[]) {
  return spawnSync('/bin/sh', ['-s', ...words], {
    input: script,
    encoding: 'utf8',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  })
}

const identity = (disk: string) =>
  spawnSync('/usr/sbin/blkid', ['-p', '-o', 'export', disk], { encoding: 'utf8' }).stdout

describe('a data disk', () => {
  let disk: string
  beforeEach(() => {
    disk = join(directory, 'disk')
    const file = openSync(disk, 'w')
    ftruncateSync(file, 64 * 1024 * 1024)
    closeSync(file)
  })

  test('with nothing on it gets a file system, once', () => {
    expect(sh(PREPARE, disk).status).toBe(0)
    const made = identity(disk)
    expect(made).toContain('TYPE=ext4')
    expect(sh(PREPARE, disk).status).toBe(0)
    expect(identity(disk)).toBe(made)
  })

  test.each([
    ['a partition table', 'printf "label: gpt\\n,\\n" | sfdisk -q "$1"'],
    ['swap', 'mkswap -q "$1"'],
  ])('with %s on it is never formatted', (_, make) => {
    expect(sh(make, disk).stderr).toBe('')
    const before = identity(disk)
    sh(PREPARE, disk)
    expect(identity(disk)).toBe(before)
  })

  test('that was wiped is not formatted, and it is told how', () => {
    expect(sh(PREPARE, disk).status).toBe(0)
    expect(sh('wipefs --all --quiet "$1"', disk).stderr).toBe('')
    const before = readFileSync(disk)
    const { status, stderr } = sh(PREPARE, disk)
    expect([status, readFileSync(disk).equals(before)]).toEqual([1, true])
    const command = /^If nothing on it is wanted: (.*)$/mu.exec(stderr)?.[1] ?? ''
    expect(sh(command).status).toBe(0)
    expect(sh(PREPARE, disk).status).toBe(0)
    expect(identity(disk)).toContain('TYPE=ext4')
  })

  test('that cannot be read is not formatted', () => {
    const { status, stderr } = sh(PREPARE, join(directory, 'none'))
    expect(status).not.toBe(0)
    expect(stderr).toContain('No such file')
    expect(existsSync(join(directory, 'none'))).toBe(false)
  })

  test.skipIf(process.getuid?.() !== 0)('belongs to its user, with everything on it', () => {
    const data = join(directory, 'data')
    mkdirSync(join(data, 'member'), { recursive: true })
    mkdirSync(join(data, 'lost+found'))
    expect(sh(OWN, 'nobody', '0700', data).status).toBe(0)
    expect(readdirSync(data)).toEqual(['member'])
    expect([statSync(data).uid, statSync(data).mode & 0o777, statSync(join(data, 'member')).uid]).toEqual([
      65_534, 0o700, 65_534,
    ])
  })
})

describe('a root disk that was another machine before', () => {
  const units = () => join(directory, 'etc/systemd/system')
  const setAside = (...words: readonly string[]) => {
    // systemd is not here to be asked.
    const script = SET_ASIDE.replaceAll('/etc/systemd/system', units()).replaceAll('systemctl', 'echo systemctl')
    return sh(script, 'abcdef12', ...words.map((path) => join(directory, path)))
  }

  test('has its data moved aside, and only those', () => {
    for (const path of ['etcd/member', 'empty', 'other']) mkdirSync(join(directory, path), { recursive: true })
    writeFileSync(join(directory, 'etcd/member/db'), 'precious')
    expect(setAside('etcd', 'empty', 'none')).toMatchObject({ status: 0, stderr: '', stdout: '' })
    expect(readdirSync(directory).toSorted()).toEqual(['empty', 'etcd.before-abcdef12', 'other'])
    expect(readFileSync(join(directory, 'etcd.before-abcdef12/member/db'), 'utf8')).toBe('precious')
    // Whoever was cut goes on.
    expect(setAside('etcd', 'empty').status).toBe(0)
  })

  test('starts nothing of what that one had', () => {
    const wants = join(units(), 'multi-user.target.wants')
    mkdirSync(wants, { recursive: true })
    for (const name of ['holdfast-etcd.service', 'ssh.service']) symlinkSync(`../${name}`, join(wants, name))
    expect(setAside().stdout).toBe('systemctl disable --now holdfast-etcd.service\n')
  })

  test.skipIf(process.getuid?.() !== 0)('keeps what is mounted where it is', () => {
    const data = join(directory, 'data')
    mkdirSync(data)
    const script = `set -e; mount -t tmpfs none "$2"; touch "$2/x"; ${SET_ASIDE}`
    const { status, stderr } = spawnSync('/usr/bin/unshare', [
      '--mount',
      '/bin/sh',
      '-c',
      script,
      'sh',
      'abcdef12',
      data,
    ])
    expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' })
    expect(readdirSync(directory)).toEqual(['data'])
  })
})

describe('our own program', () => {
  const script = () =>
    reveal(INSTALL_PROGRAM.content)
      .replaceAll('/opt/holdfast', join(directory, 'opt'))
      .replaceAll('/run/holdfast-program', join(directory, 'volume'))
  beforeEach(() => {
    mkdirSync(join(directory, 'volume/program/abc/lib'), { recursive: true })
    writeFileSync(join(directory, 'volume/program/abc/node'), 'node', { mode: 0o755 })
    writeFileSync(join(directory, 'volume/program/abc/lib/x'), 'x')
  })

  test('is copied whole, in place of what is left of an attempt', () => {
    const home = join(directory, 'opt/program')
    mkdirSync(join(home, '.new-abc/half'), { recursive: true })
    const text = script()
    expect(sh(text, 'abc')).toMatchObject({ status: 0, stderr: '' })
    expect(readdirSync(home)).toEqual(['abc'])
    expect(readdirSync(join(home, 'abc')).toSorted()).toEqual(['lib', 'node'])
    expect(statSync(join(home, 'abc/node')).mode & 0o777).toBe(0o755)
    // What is there stays as it is, also without the volume.
    rmSync(join(directory, 'volume'), { recursive: true })
    expect(sh(text, 'abc')).toMatchObject({ status: 0, stderr: '' })
  })

  test('goes when it is not wanted any more, unless somebody still runs it', async () => {
    const home = join(directory, 'opt/program')
    for (const version of ['old', 'running']) mkdirSync(join(home, version), { recursive: true })
    copyFileSync('/bin/sleep', join(home, 'running/node'))
    sh('chmod +x "$1"', join(home, 'running/node'))
    const process = spawn(join(home, 'running/node'), ['1000'])
    try {
      await once(process, 'spawn')
      expect(sh(script(), 'abc')).toMatchObject({ status: 0, stderr: '' })
      expect(readdirSync(home).toSorted()).toEqual(['abc', 'running'])
    } finally {
      process.kill()
      await once(process, 'exit')
    }
    expect(sh(script(), 'abc')).toMatchObject({ status: 0, stderr: '' })
    expect(readdirSync(home)).toEqual(['abc'])
  })

  test('that is not on the volume is an error, and leaves nothing that looks like it', () => {
    const { status } = sh(script(), 'other')
    expect(status).not.toBe(0)
    expect(existsSync(join(directory, 'opt/program/other'))).toBe(false)
  })
})
