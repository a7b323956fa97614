// The archives that packages come from: those of the distribution in the building host's own apt sources, nobody else's.
// apt is asked with lists of its own and nothing installed, so that the host neither decides what is found nor changes.

import { mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HoldfastError } from '../lib/errors.ts'
import { type Build, readStep } from './build-step.ts'
import { DISTRIBUTIONS } from './recipe.ts'

export interface Archive {
  readonly distribution: string
  readonly suite: string
  readonly architecture: string
  /** Lines of a sources.list. */
  readonly sources: readonly string[]
  /** For apt-get. */
  readonly settings: readonly string[]
}

/** Lists of packages are not fetched again before. */
const FRESH_MS = 3_600_000
const FIELDS = ['ORIGIN', 'CODENAME', 'ARCHITECTURE', 'REPO_URI', 'RELEASE', 'COMPONENT'] as const

/** Lists are kept in `directory`. */
export async function openArchive(build: Build, directory: string): Promise<Archive> {
  const settings = prepare(directory)
  await fetchLists(build, directory, settings)
  const format = FIELDS.map((field) => `$(${field})`).join('\t')
  const targets = await readStep(build, [
    'apt-get',
    'indextargets',
    ...settings,
    '--format',
    format,
    'Created-By: Packages',
  ])
  return { ...chooseSources(targets, codenameOf(readFileSync('/etc/os-release', 'utf8'))), settings }
}

/** `targets` is what apt-get indextargets says, a line of FIELDS for each. */
export function chooseSources(targets: string, suite: string): Omit<Archive, 'settings'> {
  const known = targets
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'))
    .filter(([origin, codename]) => DISTRIBUTIONS.includes(origin) && codename.replace(/-.*/u, '') === suite)
  const main = known.find(([, codename]) => codename === suite)
  if (main === undefined)
    throw new HoldfastError(
      'ImageSourcesMissing',
      `Cannot build an image of "${suite}": apt's sources on this host have no archive of ${DISTRIBUTIONS.join(' or ')} for it`,
      { hint: '"apt-get update" says what is wrong with the files in /etc/apt' },
    )
  const [distribution, , architecture] = main
  const sources = known
    .filter(([, , its]) => its === architecture)
    .map(([, , , uri, release, component]) => `deb ${uri} ${release} ${component}`)
  return { distribution, suite, architecture, sources: [...new Set(sources)] }
}

function codenameOf(osRelease: string): string {
  return /^VERSION_CODENAME="?(\w+)"?$/mu.exec(osRelease)?.[1] ?? ''
}

function prepare(directory: string): string[] {
  for (const name of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(directory, name), { recursive: true, mode: 0o755 })
  const status = join(directory, 'status')
  writeFileSync(status, '')
  return [
    `Dir::State::lists=${join(directory, 'lists')}`,
    `Dir::State::status=${status}`,
    `Dir::Cache=${join(directory, 'cache')}`,
    'APT::Install-Recommends=false',
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
  ].flatMap((setting) => ['-o', setting])
}

async function fetchLists(build: Build, directory: string, settings: readonly string[]): Promise<void> {
  const fetched = join(directory, 'fetched')
  const before = statSync(fetched, { throwIfNoEntry: false })
  if (before !== undefined && Date.now() - before.mtimeMs < FRESH_MS) return
  build.onProgress('fetching the lists of packages')
  try {
    await readStep(build, ['apt-get', '--quiet', 'update', ...settings])
  } catch (error) {
    if (before === undefined || build.signal.aborted) throw error
    build.onProgress('the lists of packages cannot be fetched; taking those from before')
    return
  }
  writeFileSync(fetched, '')
  utimesSync(fetched, new Date(), new Date())
}
