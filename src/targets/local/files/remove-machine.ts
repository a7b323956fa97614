// Removes what a machine is made of. The work is rm's, which does not follow links, even ones that somebody puts in its
// way while it works; what is to stay is found by holding the directories above it.

import { readdirSync, rmSync } from 'node:fs'
import { posix } from 'node:path'
import { HoldfastError } from '../../../lib/errors.ts'
import { exec } from '../../../lib/exec.ts'
import { type Layout, rootOf } from '../layout.ts'
import { stateFile } from '../state-file.ts'
import { HeldDirectories } from './held-directories.ts'
import type { Manifest } from './manifest.ts'

const TIMEOUT_MS = 10 * 60_000
const NEVER = new AbortController().signal

/** With `kept`, its data directories stay. */
export async function removeMachine(layout: Layout, machine: string, kept: Manifest | undefined): Promise<void> {
  const data = kept?.directories.filter(({ isData }) => isData).map(({ path }) => path) ?? []
  const root = rootOf(layout, machine)
  using held = HeldDirectories.open(root)
  if (held !== undefined) {
    if (data.some((path) => held.find(path) !== undefined)) await removeAround(held, '/', data)
    else await removeTree(root, root)
  }
  rmSync(stateFile(layout.manifests, machine), { force: true })
}

async function removeAround(held: HeldDirectories, directory: string, data: readonly string[]): Promise<void> {
  const fd = held.find(directory)
  if (fd === undefined) return
  for (const name of readdirSync(`/proc/self/fd/${fd}`)) {
    const path = posix.join(directory, name)
    if (data.includes(path)) continue
    if (data.some((each) => each.startsWith(`${path}/`))) await removeAround(held, path, data)
    else await removeTree(`/proc/${process.pid}/fd/${fd}/${name}`, held.shown(path))
  }
}

async function removeTree(path: string, shown: string): Promise<void> {
  let said = ''
  const { reason } = await exec(['rm', '-rf', '--', path], {
    timeoutMs: TIMEOUT_MS,
    signal: NEVER,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    onLine: (line) => {
      said = line
    },
  })
  if (reason === undefined) return
  throw new HoldfastError('FileUnwritable', `Cannot remove "${shown}": ${said === '' ? reason : said}`)
}
