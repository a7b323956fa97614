// Into a machine by virsh: commands for the guest agent, and programs in a container.
// Containers are entered by lxc-enter-namespace, which passes input and both outputs through, and takes the program along
// when it is ended; it works on the host itself only. It has no exit code but 1, and hands on our environment: so a shell
// inside tells the code, and the program gets an environment of its own.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../../lib/errors.ts'
import type { Ended, EnterOptions } from './hypervisor.ts'
import { isNotRunning, virshError } from './virsh-errors.ts'
import type { VirshProcess } from './virsh-process.ts'

/** For the connection, and for libvirt to see that an agent does not answer. */
const SPARE_MS = 20_000
const KNOWN_MS = 3000
const PAUSE_MS = 200
const ENVIRONMENT: readonly string[] = [
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'HOME=/root',
  'LANG=C.UTF-8',
]

export async function askAgent(
  virsh: VirshProcess,
  domain: string,
  command: object,
  timeoutMs: number,
): Promise<unknown> {
  const action = `ask the guest agent of domain "${domain}"`
  const seconds = String(Math.max(1, Math.ceil(timeoutMs / 1000)))
  const words = ['qemu-agent-command', '--domain', domain, '--timeout', seconds, '--cmd', asciiJson(command)]
  const answer = await virsh.askInSecret(words, { action, timeoutMs: timeoutMs + SPARE_MS })
  if ('failure' in answer && isNotRunning(answer.failure)) throw silent(action, 'the domain is not running')
  return (JSON.parse(virsh.outputOf(answer, action)) as { return: unknown }).return
}

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
  const words = ['lxc-enter-namespace', '--domain', domain, '--noseclabel', '--', ...inside]
  const started = ['virsh', '-q', '-c', virsh.uri, ...words]
  const { code, reason, stdout, stderr } = await virsh.run(started, timeoutMs, input === undefined ? {} : { input })
  if (code === undefined) throw silent(action, `${reason}`)
  const [errors, told] = stderr.split(mark)
  if (told !== undefined) return { code: Number.parseInt(told, 10), output: stdout.toString(), errors }
  if (isNotRunning(stderr)) throw silent(action, 'the domain is not running')
  throw virshError(action, virsh.uri, stderr)
}

/** Whether libvirt knows the first process of a container, for which it is given some time. */
export async function canEnter(virsh: VirshProcess, domain: string): Promise<boolean> {
  const words = ['lxc-enter-namespace', '--domain', domain, '--noseclabel', '--', '/bin/true']
  const deadline = performance.now() + KNOWN_MS
  for (;;) {
    const { stderr } = await virsh.run(['virsh', '-q', '-c', virsh.uri, ...words], SPARE_MS)
    if (!stderr.includes('Init pid is not yet available')) return true
    if (performance.now() > deadline) return false
    await sleep(PAUSE_MS)
  }
}

function silent(action: string, why: string): HoldfastError {
  return new HoldfastError('GuestSilent', `Cannot ${action}: ${why}`, { retryable: true })
}

function asciiJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
