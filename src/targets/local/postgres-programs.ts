// Which PostgreSQL there is: Debian keeps programs by major version, of which each release has another.

import { access, constants, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { exec } from '../../lib/exec.ts'
import { SYSTEM_PATH } from './apt.ts'
import { ANY_POSTGRES } from './packages.ts'

const PROGRAMS = '/usr/lib/postgresql'
/** Of Debian 12; when nothing can be asked. */
const USUAL_VERSION = '15'
const TIMEOUT_MS = 30_000

/** Of the newest server that is installed, else of the one that would be. */
export async function newestPostgres(signal: AbortSignal, programs = PROGRAMS): Promise<string> {
  const [newest] = await installedPostgres(programs)
  return newest ?? (await available(signal)) ?? USUAL_VERSION
}

/** Versions of the servers that are installed, the newest first. */
export async function installedPostgres(programs = PROGRAMS): Promise<readonly string[]> {
  const names = await readdir(programs).catch(() => [])
  const versions = names.filter((name) => /^\d+$/u.test(name)).toSorted((a, b) => Number(b) - Number(a))
  const areThere = await Promise.all(versions.map((version) => isExecutable(join(programs, version, 'bin/postgres'))))
  return versions.filter((_, index) => areThere[index])
}

/** The version that Debian's package without a version stands for. */
async function available(signal: AbortSignal): Promise<string | undefined> {
  let version: string | undefined
  await exec(['apt-cache', 'depends', ANY_POSTGRES], {
    timeoutMs: TIMEOUT_MS,
    signal,
    env: { PATH: SYSTEM_PATH, LC_ALL: 'C' },
    onLine: (line) => {
      version = /^\s*Depends: postgresql-(\d+)$/u.exec(line)?.[1] ?? version
    },
  })
  return version
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
