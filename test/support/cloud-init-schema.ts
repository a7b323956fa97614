// Debian's cloud-init as a judge of what we write for it. Installed, it would take over this host at its next boot, so the
// package is unpacked into the user's cache and run from there.

import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'holdfast')
const UNPACKED = join(CACHE, 'cloud-init')
const MODULES = join(UNPACKED, 'usr/lib/python3/dist-packages')
/** Debian's own, which knows the packages that cloud-init needs. */
const PYTHON = '/usr/bin/python3'

/** Why it cannot be asked here; undefined when it can. */
export function whyNoCloudInit(): string | undefined {
  try {
    if (!existsSync(UNPACKED)) unpack()
    execFileSync(PYTHON, ['-c', 'import cloudinit.cmd.main, cloudinit.cmd.devel.net_convert, jsonschema'], {
      env: { PYTHONPATH: MODULES },
      stdio: 'pipe',
    })
    return undefined
  } catch (error) {
    return `no cloud-init of Debian: ${(error as Error).message.trim().split('\n').at(-1)}`
  }
}

/** Rejects with what cloud-init says when the user-data in a file is not as it wants it, deprecated things included. */
export async function checkUserData(file: string): Promise<void> {
  const output = await cloudInit(['schema', '--config-file', file])
  if (!output.startsWith('Valid cloud-config: ')) throw new Error(output)
}

/** Makes the files of another program from a network-config: netplan's, networkd's or ifupdown's. */
export async function convertNetwork(
  file: string,
  to: 'netplan' | 'networkd' | 'eni',
  directory: string,
): Promise<void> {
  const words = ['--kind', 'yaml', '--network-data', file, '--directory', directory, '--distro', 'debian']
  await cloudInit(['devel', 'net-convert', ...words, '--output-kind', to])
}

async function cloudInit(words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(PYTHON, ['-m', 'cloudinit.cmd.main', ...words], {
    env: { PYTHONPATH: MODULES, PATH: process.env.PATH },
  })
  return `${stdout}${stderr}`
}

function unpack(): void {
  mkdirSync(CACHE, { recursive: true })
  const temporary = mkdtempSync(join(CACHE, 'new-'))
  try {
    execFileSync('apt-get', ['download', '--quiet', 'cloud-init'], { cwd: temporary, stdio: 'pipe' })
    const [archive] = readdirSync(temporary)
    execFileSync('dpkg', ['-x', archive, 'unpacked'], { cwd: temporary, stdio: 'pipe' })
    renameSync(join(temporary, 'unpacked'), UNPACKED)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}
