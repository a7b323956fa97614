// Tests of a unit that compare with a program of the host: where the program is missing they are skipped, and their name says why.

import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'

/** Debian keeps servers in directories that are not on every user's PATH. */
const DIRECTORIES = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin']

function isInstalled(program: string): boolean {
  return DIRECTORIES.some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

function skipNote(programs: readonly string[]): string {
  const missing = programs.filter((program) => !isInstalled(program))
  return missing.length === 0 ? '' : ` (not run: no ${missing.join(', ')} here)`
}

/** `test` and `describe` for what needs `programs` on the host. */
export function needing(...programs: readonly string[]) {
  const note = skipNote(programs)
  return {
    test: (name: string, body: () => void | Promise<void>) => test.skipIf(note !== '')(`${name}${note}`, body),
    describe: (name: string, body: () => void) =>
      describe.skipIf(note !== '')(`${name}${note}`, () => {
        body()
      }),
  }
}
