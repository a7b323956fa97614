// A root file system as a disk that a BIOS starts. Everything is written to a file: no loop device, no mount, so it works in
// a container, too, and nothing is left behind.

import {
  closeSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { bootSectors } from './boot-sectors.ts'
import { type Build, readStep, runStep } from './build-step.ts'
import {
  CORE_SECTOR,
  DISK_MIB,
  FILE_SYSTEM_OPTIONS,
  FILE_SYSTEM_SIZE,
  FSTAB,
  PARTITION_TABLE,
  ROOT_SECTOR,
  SECTOR_BYTES,
} from './partitions.ts'
import { EPOCH_SECONDS } from './recipe.ts'

/** Writes `qcow2` from the directory `root`. */
export async function makeDisk(build: Build, root: string, qcow2: string): Promise<void> {
  const raw = join(build.directory, 'disk.raw')
  addFstab(join(root, 'etc'))
  const fd = openSync(raw, 'wx')
  try {
    ftruncateSync(fd, DISK_MIB * 1024 * 1024)
    await readStep(build, ['sfdisk', '--quiet', '--no-reread', '--no-tell-kernel', raw], PARTITION_TABLE)
    await runStep(build, ['mke2fs', ...FILE_SYSTEM_OPTIONS, '-d', root, raw, FILE_SYSTEM_SIZE])
    await setOtherTimes(build, root, raw)
    writeBootSectors(fd, join(root, 'boot/grub'))
  } finally {
    closeSync(fd)
  }
  await runStep(build, ['qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', raw, qcow2])
}

function addFstab(etc: string): void {
  const fstab = join(etc, 'fstab')
  writeFileSync(fstab, FSTAB)
  for (const path of [fstab, etc]) utimesSync(path, EPOCH_SECONDS, EPOCH_SECONDS)
}

/** When a file was unpacked and read is in its inode, too, and mke2fs takes it as it is. */
async function setOtherTimes(build: Build, root: string, raw: string): Promise<void> {
  const commands = join(build.directory, 'times')
  const lines = [...pathsBelow(root, '/')].flatMap((path) =>
    ['atime', 'ctime'].map((field) => `set_inode_field "${path}" ${field} @${EPOCH_SECONDS}\n`),
  )
  writeFileSync(commands, lines.join(''))
  await readStep(build, ['debugfs', '-w', '-f', commands, `${raw}?offset=${ROOT_SECTOR * SECTOR_BYTES}`])
}

function* pathsBelow(root: string, directory: string): Generator<string> {
  for (const entry of readdirSync(join(root, directory), { withFileTypes: true })) {
    const path = join(directory, entry.name)
    yield path
    if (entry.isDirectory()) yield* pathsBelow(root, path)
  }
}

function writeBootSectors(fd: number, grub: string): void {
  const images = ['boot.img', 'core.img'].map((name) => readFileSync(join(grub, name)))
  const { bootCode, core } = bootSectors(images[0], images[1], CORE_SECTOR)
  writeSync(fd, bootCode, 0, bootCode.length, 0)
  writeSync(fd, core, 0, core.length, CORE_SECTOR * SECTOR_BYTES)
}
