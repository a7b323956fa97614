// The scripts that a machine runs, run here.

import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HARDWARE } from '../../../../test/support/machine-spec.ts'
import { placementOf } from '../../../../test/support/cloud-init-examples.ts'
import { reveal } from '../../../machine/content.ts'
import type { Machine } from '../../../machine/machine.ts'
import { dataFiles } from './data-disk.ts'
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

  test('that is not on the volume is an error, and leaves nothing that looks like it', () => {
    const { status } = sh(script(), 'other')
    expect(status).not.toBe(0)
    expect(existsSync(join(directory, 'opt/program/other'))).toBe(false)
  })
})
