// CoreDNS, as scripts/build-coredns.sh has built it, and ours, started with a configuration of the test's making.

import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Command, type NameServer, nameServer, type RunningServer } from '../support/name-server.ts'

/** The text of a configuration that listens on the port. */
export type Configuration = (port: number) => string

export const MISSING = 'CoreDNS is not built here; "npm run test:side-by-side" builds it, given Go'

/** The program; undefined where it has not been built. */
export function findCoredns(): string | undefined {
  const script = fileURLToPath(new URL('../../scripts/build-coredns.sh', import.meta.url))
  return execFileSync('bash', [script, '--if-built'], { encoding: 'utf8' }).trim() || undefined
}

const HOLDFAST = fileURLToPath(new URL('../../bin/holdfast', import.meta.url))

export function coredns(program: string, corefile: Configuration): NameServer {
  return configured('coredns', 'Corefile', corefile, (file) => ({ program, args: ['-quiet', '-conf', file] }))
}

export function holdfastCorefile(corefile: Configuration): NameServer {
  return configured('holdfast', 'Corefile', corefile, (file) => ours(file, '-conf'))
}

export function holdfastNames(names: Configuration): NameServer {
  return configured('holdfast', 'names.yaml', names, (file) => ours(file, '--config'))
}

/** With a state of its own: one from an earlier run would have a say in serials. */
function ours(file: string, option: string): Command {
  return { program: HOLDFAST, args: ['dns', option, file, '--state', join(dirname(file), 'state')] }
}

function configured(
  name: string,
  fileName: string,
  text: Configuration,
  command: (file: string) => Command,
): NameServer {
  return nameServer(name, async (directory, port) => {
    const file = join(directory, fileName)
    await writeFile(file, text(port))
    return command(file)
  })
}

/** Both serve the zones. */
export async function startBoth(
  ours: NameServer,
  theirs: NameServer,
  zones: readonly string[],
): Promise<AsyncDisposable & { readonly ours: RunningServer; readonly theirs: RunningServer }> {
  const files = zones.map((origin) => ({ origin, file: '' }))
  const started = await Promise.allSettled([ours.start(files), theirs.start(files)])
  const running = started.filter((each) => each.status === 'fulfilled').map(({ value }) => value)
  const stop = async () => {
    await Promise.all(running.map((server) => server.stop()))
  }
  const failed = started.find((each) => each.status === 'rejected')
  if (failed !== undefined) {
    await stop()
    throw failed.reason
  }
  return { ours: running[0], theirs: running[1], [Symbol.asyncDispose]: stop }
}
