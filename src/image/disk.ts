// A root file system as a disk that a BIOS starts. Everything is written to a file: no loop device, no mount, so it works in
// a container, too, and nothing is left behind.

import { closeSync, ftruncateSync, openSync, readFileSync, utimesSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { bootSectors } from './boot-sectors.ts'
import { type Build, readStep, runStep } from './build-step.ts'
import {
  CORE_SECTOR,
  DISK_MIB,
  FILE_SYSTEM,
  FSTAB,
  HASH_SEED,
  PARTITION_TABLE,
  ROOT_MIB,
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
    await makeFileSystem(build, root, raw)
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

async function makeFileSystem(build: Build, root: string, raw: string): Promise<void> {
  const identity = ['-U', FILE_SYSTEM, '-E', `hash_seed=${HASH_SEED},offset=${ROOT_SECTOR * SECTOR_BYTES}`]
  const behaviour = ['-m', '1', '-e', 'remount-ro']
  const command = ['mke2fs', '-q', '-F', '-t', 'ext4', ...identity, ...behaviour, '-d', root, raw, `${ROOT_MIB}M`]
  await runStep(build, command)
}

function writeBootSectors(fd: number, grub: string): void {
  const images = ['boot.img', 'core.img'].map((name) => readFileSync(join(grub, name)))
  const { bootCode, core } = bootSectors(images[0], images[1], CORE_SECTOR)
  writeSync(fd, bootCode, 0, bootCode.length, 0)
  writeSync(fd, core, 0, core.length, CORE_SECTOR * SECTOR_BYTES)
}
