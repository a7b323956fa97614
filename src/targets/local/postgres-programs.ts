// Where PostgreSQL's programs are: Debian keeps them by major version, of which each release has another.

import { access, constants, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { exec } from '../../lib/exec.ts'
import { SYSTEM_PATH } from './apt.ts'
import { ANY_POSTGRES } from './packages.ts'

const VERSIONS = '/usr/lib/postgresql'
/** Of Debian 12; when nothing can be asked. */
const USUAL_VERSION = 15
const TIMEOUT_MS = 30_000

/** Of the newest server that is installed, else of the one that would be. */
export async function postgresBinDirectory(signal: AbortSignal, versions = VERSIONS): Promise<string> {
  const version = (await newestInstalled(versions)) ?? (await newestAvailable(signal)) ?? USUAL_VERSION
  return join(versions, String(version), 'bin')
}

async function newestInstalled(versions: string): Promise<number | undefined> {
  const names = await readdir(versions).catch(() => [])
  const numbers = names.filter((name) => /^\d+$/u.test(name)).map(Number)
  for (const version of numbers.toSorted((a, b) => b - a)) {
    if (await isExecutable(join(versions, String(version), 'bin/postgres'))) return version
  }
  return undefined
}

/** The version that Debian's package without a version stands for. */
async function newestAvailable(signal: AbortSignal): Promise<number | undefined> {
  let version: number | undefined
  const onLine = (line: string) => {
    const match = /^\s*Depends: postgresql-(\d+)$/u.exec(line)
    if (match !== null) version = Number(match[1])
  }
  await exec(['apt-cache', 'depends', ANY_POSTGRES], {
    timeoutMs: TIMEOUT_MS,
    signal,
    env: { PATH: SYSTEM_PATH, LC_ALL: 'C' },
    onLine,
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
