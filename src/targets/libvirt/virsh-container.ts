// Containers, on this host: what libvirt may have lost sight of. A new container tells libvirtd which process is the first one
// inside, at once when libvirtd connects to it; where that is sooner than libvirtd expects it, it closes the connection for good. From then
// on the container is "running" to libvirt, cannot be entered or shut down by it, and is still "running" when it has ended.
// So we look ourselves: the number of a container is the process that keeps it, whose only child is the first one inside.

import { randomUUID } from 'node:crypto'
import { HoldfastError } from '../../lib/errors.ts'
import type { Ended, EnterOptions } from './hypervisor.ts'
import { virshError } from './virsh-errors.ts'
import type { VirshProcess } from './virsh-process.ts'

const LOOK_MS = 20_000
/** Said by ourselves. */
const OFF = 'domain is not running'
const ENVIRONMENT: readonly string[] = [
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'HOME=/root',
  'LANG=C.UTF-8',
]
const FIND_FIRST = `set -e
id=$(virsh -q -c "$1" domid --domain "$2" </dev/null)
first=
read -r first _ 2>/dev/null <"/proc/$id/task/$id/children" || true
if [ -z "$first" ]; then echo '${OFF}' >&2; exit 1; fi
shift 2`

/** A shell inside tells the exit code, so that it is never taken for one of virsh or nsenter. */
export async function enterContainer(
  virsh: VirshProcess,
  domain: string,
  command: readonly string[],
  { input, timeoutMs }: EnterOptions,
): Promise<Ended> {
  const action = `run "${command[0]}" in domain "${domain}"`
  const mark = randomUUID()
  const shell = ['/bin/sh', '-c', `"$@"; printf %s "${mark}$?" >&2`, 'sh', ...command]
  const inside = ['/usr/bin/env', '-i', ...ENVIRONMENT, ...shell]
  const enter = `${FIND_FIRST}; exec nsenter --target "$first" --all --root --wd -- "$@"`
  const words = ['sh', '-c', enter, 'sh', virsh.uri, domain, ...inside]
  const { code, reason, stdout, stderr } = await virsh.run(words, timeoutMs, input === undefined ? {} : { input })
  if (code === undefined) throw silent(action, `${reason}`)
  const [errors, told] = stderr.split(mark)
  if (told !== undefined) return { code: Number.parseInt(told, 10), output: stdout.toString(), errors }
  if (stderr.includes(OFF)) throw silent(action, OFF)
  throw virshError(action, virsh.uri, stderr)
}

/** By systemd's own signal for it, RTMIN+4. Resolves when it has been asked. */
export async function powerOffContainer(virsh: VirshProcess, domain: string): Promise<void> {
  const words = ['sh', '-c', `${FIND_FIRST}; exec kill -s RTMIN+4 "$first"`, 'sh', virsh.uri, domain]
  const { code, stderr } = await virsh.run(words, LOOK_MS)
  if (code !== 0 && !stderr.includes(OFF)) throw virshError(`shut down domain "${domain}"`, virsh.uri, stderr)
}

/** Of the numbers of containers, those that have ended, whatever libvirt says. */
export async function endedContainers(virsh: VirshProcess, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  // The number may have become that of another process.
  const keeps = `tr '\\0' '\\n' 2>/dev/null <"/proc/$id/cmdline" | grep -qx -e --name`
  // Where libvirtd itself cannot be seen, its containers cannot either.
  const look = `pidof libvirtd virtlxcd >/dev/null || exit 0; for id; do if ! ${keeps}; then echo "$id"; fi; done`
  const { code, stdout, stderr } = await virsh.run(['sh', '-c', look, 'sh', ...ids], LOOK_MS)
  if (code !== 0) throw virshError('see which containers run', virsh.uri, stderr)
  return new Set(stdout.toString().split('\n'))
}

function silent(action: string, why: string): HoldfastError {
  return new HoldfastError('GuestSilent', `Cannot ${action}: ${why}`, { retryable: true })
}
