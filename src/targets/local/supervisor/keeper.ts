// Who starts the supervisor, and starts it again when it is killed: a few lines of shell. Both hold a lock of the
// kernel's (flock) as long as they live, so there is never a second one, and nothing stale is left behind by a kill -9.
// The supervisor starts a new keeper when its keeper is gone; that one waits for the supervisor's lock until it is
// needed.

import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import { startDaemon } from '../../../lib/daemon.ts'
import { HoldfastError, reasonOf } from '../../../lib/errors.ts'
import type { Layout } from '../layout.ts'
import { commandOf, userOf } from './process-table.ts'

const NAME = 'holdfast-keeper'

/**
 * Arguments: the keeper's lock and pid file, the supervisor's lock, and the supervisor's command. The supervisor's
 * descriptor of its lock is inherited from flock; Node passes it on to nobody. 137 is SIGKILL: anything else may happen
 * again at once.
 */
const SCRIPT = `
umask 022
exec 9>>"$1" || exit 1
flock -n 9 || exit 0
echo $$ >"$2"
lock=$3
shift 3
while :; do
  flock --no-fork "$lock" "$@" 9>&-
  case $? in
    0) exit 0 ;;
    137) sleep 0.1 9>&- ;;
    *) sleep 2 9>&- ;;
  esac
done`

/** Harmless when there is one. `command` is the supervisor's. */
export function startKeeper(layout: Layout, command: readonly string[]): void {
  let output: number
  try {
    mkdirSync(layout.supervisor, { recursive: true, mode: 0o700 })
    output = openSync(layout.log, 'a', 0o600)
  } catch (error) {
    throw new HoldfastError('FileUnwritable', `Cannot write "${layout.log}": ${reasonOf(error)}`, { cause: error })
  }
  const { keeperLock, keeperPid, lock } = layout
  startDaemon(['sh', '-c', SCRIPT, NAME, keeperLock, keeperPid, lock, ...command], {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' },
    output,
  })
  closeSync(output)
}

/** Undefined when none is running. */
export function findKeeper(layout: Layout): { readonly pid: number; readonly command: readonly string[] } | undefined {
  const pid = pidIn(layout.keeperPid)
  if (pid === undefined) return undefined
  const words = commandOf(pid)
  const at = words.indexOf(NAME)
  return at !== -1 && words[at + 1] === layout.keeperLock ? { pid, command: words.slice(at + 4) } : undefined
}

/** The process id of the supervisor; undefined when it is not running. */
export function findSupervisor(layout: Layout): number | undefined {
  const pid = pidIn(layout.pid)
  return pid !== undefined && commandOf(pid).at(-1) === layout.directory ? pid : undefined
}

/** Its id may have been given to a process of somebody else since, whose words may be anything. */
function pidIn(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8'))
    const trusted = [0, process.getuid?.(), statSync(path).uid]
    return Number.isSafeInteger(pid) && pid > 0 && trusted.includes(userOf(pid)) ? pid : undefined
  } catch {
    return undefined
  }
}
