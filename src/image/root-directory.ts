// The root file system as a directory: the base, and our own program in it.

import { cpSync, existsSync, lutimesSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PROGRAM } from '../targets/libvirt/placement.ts'
import { installProgram } from '../targets/program.ts'
import { type Build, runStep } from './build-step.ts'
import { EPOCH_SECONDS } from './recipe.ts'

export async function makeRoot(build: Build, tar: string, root: string, withProgram: boolean): Promise<void> {
  mkdirSync(root, { mode: 0o755 })
  await runStep(build, [
    'tar',
    '--extract',
    '--preserve-permissions',
    '--numeric-owner',
    '--xattrs',
    '--xattrs-include=*',
    `--directory=${root}`,
    `--file=${tar}`,
  ])
  if (withProgram) await addProgram(build, root)
}

/** It shares files with the original where it can: those must keep their times, so it is copied once more. */
async function addProgram(build: Build, root: string): Promise<void> {
  const installed = join(build.directory, 'installed-program')
  await installProgram(installed)
  const home = join(root, PROGRAM.home)
  cpSync(installed, home, { recursive: true })
  for (const name of readdirSync(home, { recursive: true, encoding: 'utf8' })) setTime(join(home, name))
  for (let path = home; path !== dirname(root); path = dirname(path)) setTime(path)
}

function setTime(path: string): void {
  if (existsSync(path)) lutimesSync(path, EPOCH_SECONDS, EPOCH_SECONDS)
}

/** The same tar for the same directory. */
export async function packRoot(build: Build, root: string, tar: string): Promise<void> {
  await runStep(build, [
    'tar',
    '--create',
    '--format=posix',
    '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
    '--sort=name',
    '--numeric-owner',
    '--xattrs',
    '--xattrs-include=*',
    `--directory=${root}`,
    `--file=${tar}`,
    '.',
  ])
}
