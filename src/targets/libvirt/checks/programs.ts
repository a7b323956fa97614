// The programs that we need on our own side to work with libvirt.

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Finding, ok, problem } from '../../finding.ts'

const PACKAGES: Readonly<Record<string, string>> = {
  virsh: 'libvirt-clients',
  xorriso: 'xorriso',
  ssh: 'openssh-client',
}

/** `path`: of directories, as in the environment. */
export function checkPrograms(uris: readonly string[], path: string): readonly Finding[] {
  const needed = programsFor(uris)
  const missing = needed.filter((program) => !isInPath(program, path))
  if (missing.length === 0) return [ok('programs', needed.join(', '))]
  const fix = `apt-get install ${missing.map((program) => PACKAGES[program]).join(' ')}`
  return [problem('programs', `not installed: ${missing.join(', ')}`, fix)]
}

/** Debian packages that they come from. */
export function hostPackages(uris: readonly string[]): readonly string[] {
  return programsFor(uris).map((program) => PACKAGES[program])
}

function programsFor(uris: readonly string[]): readonly string[] {
  return ['virsh', 'xorriso', ...(uris.some((uri) => /^\w+\+ssh:/u.test(uri)) ? ['ssh'] : [])]
}

function isInPath(program: string, path: string): boolean {
  return path.split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
