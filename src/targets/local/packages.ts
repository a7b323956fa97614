// Debian packages that services come from: which are missing, and installing them so that nothing else on the host
// changes: no daemon is started, no database cluster of Debian's own is made, what is installed stays as it is.

import { readdir } from 'node:fs/promises'
import { HoldfastError } from '../../lib/errors.ts'
import { exec } from '../../lib/exec.ts'
import { aptGet, aptInstall, type AptOptions, SYSTEM_PATH } from './apt.ts'
import { withoutDaemons, withoutMainCluster } from './quiet-install.ts'

/** Stands for a server of any version: what is there, else the one that is Debian's default. */
export const ANY_POSTGRES = 'postgresql'
const POSTGRES_SERVER = /^postgresql(?:-\d+)?$/u

const QUERY_TIMEOUT_MS = 30_000
const LISTS = '/var/lib/apt/lists'
/** Faults that newer lists of packages may mend. */
const OUTDATED = /^Unable to (?:locate|fetch)|^Failed to fetch|no installation candidate|Couldn't find any package/u
const UNREACHABLE = /resolv|could not connect|unable to connect|connection (?:failed|timed out|refused)|unreachable/iu

/** In the order given. Rejects where there is no dpkg. */
export async function missingPackages(packages: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  if (packages.length === 0) return []
  const patterns = packages.includes(ANY_POSTGRES) ? [...packages, 'postgresql-[0-9]*'] : packages
  const installed = new Set<string>()
  const format = ['--show', '--showformat=${db:Status-Status} ${Package}\\n']
  const { code, reason } = await exec(['dpkg-query', ...format, ...patterns], {
    timeoutMs: QUERY_TIMEOUT_MS,
    signal,
    env: { PATH: SYSTEM_PATH, LC_ALL: 'C' },
    onLine: (line) => {
      const [status, name] = line.split(' ')
      if (status === 'installed') installed.add(name)
    },
  })
  if (signal.aborted) throw new HoldfastError('Interrupted', 'Cannot look for packages: it was stopped')
  // 1: some are not known, which is an answer.
  if (reason !== undefined && code !== 1)
    throw new HoldfastError(
      'NotDebian',
      `Cannot look for packages: dpkg-query: ${reason}; expected a Debian system, or its packages by other means: ${packages.join(', ')}`,
    )
  if ([...installed].some((name) => POSTGRES_SERVER.test(name))) installed.add(ANY_POSTGRES)
  return packages.filter((name) => !installed.has(name))
}

/** For people to run. */
export function installCommand(packages: readonly string[]): string {
  return `sudo apt-get install --no-install-recommends ${packages.join(' ')}`
}

/** Installs what is missing; rejects, with nothing changed, when it cannot be had. */
export async function installPackages(
  packages: readonly string[],
  options: AptOptions & { readonly isRoot: boolean },
): Promise<void> {
  const missing = await missingPackages(packages, options.signal)
  if (missing.length === 0) return
  if (!options.isRoot)
    throw new HoldfastError('PackagesNeedRoot', `Cannot install ${missing.join(', ')}: not running as root`, {
      hint: `run this first: ${installCommand(missing)}`,
    })
  options.onProgress(`installing ${missing.join(', ')}`)
  await download(missing, options)
  if (missing.some((name) => POSTGRES_SERVER.test(name)) && !(await hasPostgres(options.signal)))
    await withoutMainCluster()
  const { isDone, faults } = await withoutDaemons(() => aptInstall(missing, options))
  if (!isDone) throw failed(missing, faults)
}

/** Lists of packages are fetched only when there are none, or when they are too old to be of use. */
async function download(missing: readonly string[], options: AptOptions): Promise<void> {
  const attempt = () => aptGet(['install', '--no-install-recommends', '--download-only', ...missing], options)
  if (await hasLists()) {
    const { isDone, faults } = await attempt()
    if (isDone) return
    if (!faults.some((fault) => OUTDATED.test(fault) && !UNREACHABLE.test(fault))) throw failed(missing, faults)
  }
  options.onProgress('fetching the lists of packages')
  // An archive that fails may not be needed; what it said explains a package that is not found then.
  const { faults: unfetched } = await aptGet(['update'], options)
  const { isDone, faults } = await attempt()
  if (!isDone) throw failed(missing, [...faults, ...unfetched])
}

async function hasPostgres(signal: AbortSignal): Promise<boolean> {
  return (await missingPackages([ANY_POSTGRES], signal)).length === 0
}

async function hasLists(): Promise<boolean> {
  const names = await readdir(LISTS).catch(() => [])
  return names.some((name) => name.includes('_Packages'))
}

function failed(packages: readonly string[], faults: readonly string[]): HoldfastError {
  const unreachable = faults.find((fault) => UNREACHABLE.test(fault))
  const wanted = unreachable === undefined ? '' : '; expected a connection to the archive of packages'
  return new HoldfastError(
    'PackagesFailed',
    `Cannot install ${packages.join(', ')}: ${unreachable ?? faults[0]}${wanted}`,
    {
      retryable: unreachable !== undefined,
      hint: `"${installCommand(packages)}" shows all that apt has to say`,
    },
  )
}
