// Starts a service: as its user with no more rights than it needs, in its machine's root, with an environment of its
// own and nothing of ours, its output appended to its log. What the service may have a say in, its environment first of
// all (PATH, LD_PRELOAD), takes effect only when the rights of root are gone.

import { closeSync, constants, fchmodSync, openSync } from 'node:fs'
import { type DaemonEnd, startDaemon } from '../../../lib/daemon.ts'
import type { Service } from '../../../machine/machine.ts'
import { Accounts } from '../accounts.ts'
import { HeldDirectories } from '../files/held-directories.ts'
import { type Layout, logOf, rootOf } from '../layout.ts'

/** By their full paths: what root starts is nobody else's choice. */
export const SETPRIV = '/usr/bin/setpriv'
const SHELL = '/bin/sh'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const NAME = /^[A-Za-z_]\w*$/u
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW

export interface Launch {
  readonly layout: Layout
  readonly machine: string
  readonly service: Service
  readonly isRoot: boolean
  readonly onEnd: (end: DaemonEnd) => void
}

/** In the environment of a service and of what it starts itself: the root of its machine, its name, its process id. */
export const OWN_VARIABLES = { root: 'HOLDFAST_ROOT', service: 'HOLDFAST_SERVICE', pid: 'HOLDFAST_PID' } as const

/** Its process id; undefined when `onEnd` will tell why there is none. Throws when its files cannot be read. */
export function launch({ layout, machine, service, isRoot, onEnd }: Launch): number | undefined {
  const root = rootOf(layout, machine)
  const own = { [OWN_VARIABLES.root]: root, [OWN_VARIABLES.service]: service.name }
  const defaults = { PATH, HOME: root, LANG: 'C.UTF-8' }
  const { script, carriers } = become({
    ...defaults,
    ...service.environment,
    ...readEnvironment(root, service),
    ...own,
  })
  const identity = isRoot ? asUser(service, new Accounts()) : []
  const command = [...identity, SHELL, '-c', script, 'holdfast', ...service.command]
  const output = openSync(logOf(layout, machine, service.name), APPEND, 0o640)
  try {
    fchmodSync(output, 0o640)
    return startDaemon(command, { cwd: root, env: { ...own, ...carriers }, output, onEnd })
  } finally {
    closeSync(output)
  }
}

/**
 * A script that turns into its arguments, with these variables. Their values come under names that mean nothing to any
 * program, not as words, which everybody on the host can read. A process can only tell its own id after it has been
 * started; it stays the same through every `exec`.
 */
export function become(variables: Readonly<Record<string, string>>): {
  readonly script: string
  readonly carriers: Readonly<Record<string, string>>
} {
  const carried = Object.entries(variables).map(([name, value], index) => {
    if (!NAME.test(name)) throw new Error(`"${name}" is no name of a variable`)
    return { name, value, carrier: `HOLDFAST_VALUE_${index}` }
  })
  const sets = carried.map(({ name, carrier }) => `${name}="$${carrier}"`)
  const names = carried.map(({ carrier }) => carrier)
  return {
    script: `export ${sets.join(' ')} ${OWN_VARIABLES.pid}=$$; unset ${names.join(' ')}; exec "$@"`,
    carriers: Object.fromEntries(carried.map(({ carrier, value }) => [carrier, value])),
  }
}

/** setpriv turns into what comes after it: the process id stays. No file can give it rights that it does not start with. */
function asUser({ name, user, bindsLowPorts = false }: Service, accounts: Accounts): string[] {
  const { uid, gid } = accounts.find(user, `start "${name}"`)
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--init-groups', '--no-new-privs']
  const rights = bindsLowPorts ? ['--inh-caps=+net_bind_service', '--ambient-caps=+net_bind_service'] : []
  return [SETPRIV, ...identity, ...rights, '--']
}

function readEnvironment(root: string, { environmentFiles = [] }: Service): Record<string, string> {
  using held = new HeldDirectories(root)
  return Object.fromEntries(environmentFiles.flatMap((path) => parseEnvironment(readText(held, path))))
}

function readText(held: HeldDirectories, path: string): string {
  const file = held.readFile(path)
  if (file === undefined) throw new Error(`${held.shown(path)}: no such file`)
  return file.text
}

/** Lines `NAME=value`, as systemd reads them: the value may stand in quotes, and `#` and `;` begin a comment. */
export function parseEnvironment(text: string): [name: string, value: string][] {
  return text
    .split('\n')
    .map((line) => /^\s*([A-Za-z_]\w*)=(?:"(.*)"|'(.*)'|(.*?))\s*$/u.exec(line))
    .filter((match) => match !== null)
    .map(([, name, inDouble, inSingle, plain]) => [name, inDouble ?? inSingle ?? plain])
}
