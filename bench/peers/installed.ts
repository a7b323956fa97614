// Finds programs that Debian's packages put into /usr/sbin, which is not on every user's PATH.

import { access, constants } from 'node:fs/promises'

export async function installed(program: string, debianPackage: string): Promise<string | undefined> {
  for (const directory of ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin']) {
    const path = `${directory}/${program}`
    const there = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (there) return path
  }
  process.stderr.write(`${program} is left out: it is not installed; apt-get install ${debianPackage}\n`)
  return undefined
}
