// The archives that packages come from: those of the distribution in the building host's own apt sources, nobody else's.
// apt is asked with lists of its own and nothing installed, so that the host neither decides what is found nor changes.

import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasLogin } from '../lib/address-login.ts'
import { HoldfastError } from '../lib/errors.ts'
import { type Build, readStep } from './build-step.ts'
import { hashOf } from './image.ts'
import { DISTRIBUTION } from './recipe.ts'
import { keysOf } from './source-keys.ts'

export interface Archive {
  readonly suite: string
  readonly architecture: string
  /** Lines of a sources.list. */
  readonly sources: readonly string[]
  /** Files with the keys that these lines name. */
  readonly keys: readonly string[]
  /** For apt-get. */
  readonly settings: readonly string[]
}

/** Lists of packages are not fetched again before. */
const FRESH_MS = 3_600_000
const SOURCE_FILES = '/etc/apt/{sources.list,sources.list.d/*.{list,sources}}'
const FIELDS = ['ORIGIN', 'CODENAME', 'ARCHITECTURE', 'REPO_URI', 'RELEASE', 'COMPONENT', 'SOURCESENTRY'] as const

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
    .filter(([origin, codename]) => origin === DISTRIBUTION && codename.replace(/-.*/u, '') === suite)
  const main = known.find(([, codename]) => codename === suite)
  if (main === undefined)
    throw new HoldfastError(
      'ImageSourcesMissing',
      `Cannot build an image of "${suite}": apt's sources on this host have no archive of ${DISTRIBUTION} for it`,
      { hint: '"apt-get update" says what is wrong with the files in /etc/apt' },
    )
  const [, , architecture] = main
  const chosen = known
    .filter(([, , its]) => its === architecture)
    .map(([, , , uri, release, component, entry]) => {
      checkUri(uri)
      const keys = keysOf(entry)
      const options = keys === undefined ? '' : ` [signed-by=${keys}]`
      return { line: `deb${options} ${uri} ${release} ${component}`, keys: keys?.split(',') ?? [] }
    })
  const unique = (values: readonly string[]) => [...new Set(values)]
  return {
    ...{ suite, architecture, sources: unique(chosen.map(({ line }) => line)) },
    // Others are fingerprints.
    keys: unique(chosen.flatMap(({ keys }) => keys)).filter((key) => key.startsWith('/')),
  }
}

/** An older version kept the hash of the sources even if no list could be fetched. */
function hasLists(directory: string): boolean {
  return globSync(join(directory, 'lists/*Release')).length > 0
}

/** Everybody who has an image can read its sources. */
function checkUri(uri: string): void {
  if (!hasLogin(uri)) return
  const { host } = new URL(uri)
  throw new HoldfastError(
    'ImageSourcesSecret',
    `Cannot build an image from the archive at "${host}": its address in apt's sources has a password, which would be in the image`,
    { hint: 'put it into a file in /etc/apt/auth.conf.d' },
  )
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

/** Lists of packages belong to it. */
export function hashOfSources(): string {
  const files = globSync(SOURCE_FILES).toSorted()
  return hashOf(files.map((file) => readFileSync(file, 'utf8')))
}

async function fetchLists(build: Build, directory: string, settings: readonly string[]): Promise<void> {
  const fetched = join(directory, 'fetched')
  const sources = hashOfSources()
  const before = statSync(fetched, { throwIfNoEntry: false })
  const isOfThem = before !== undefined && readFileSync(fetched, 'utf8') === sources
  if (isOfThem && Date.now() - before.mtimeMs < FRESH_MS) return
  build.onProgress('fetching the lists of packages')
  try {
    // Without this setting apt only warns of what it cannot fetch.
    await readStep(build, ['apt-get', '--quiet', 'update', ...settings, '-o', 'APT::Update::Error-Mode=any'])
  } catch (error) {
    // Lists of other sources would make an image of packages that these do not have.
    if (build.signal.aborted || !isOfThem || !hasLists(directory)) throw error
    build.onProgress('not all lists of packages can be fetched; using those from before')
    return
  }
  writeFileSync(fetched, sources)
}
