// The guest agent of a virtual machine, by virsh.

import { HoldfastError } from '../../lib/errors.ts'
import { isNotRunning } from './virsh-errors.ts'
import type { VirshProcess } from './virsh-process.ts'

/** For the connection, and for libvirt to see that an agent does not answer. */
const SPARE_MS = 20_000

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
  if ('failure' in answer && isNotRunning(answer.failure))
    throw new HoldfastError('GuestSilent', `Cannot ${action}: the domain is not running`, { retryable: true })
  return (JSON.parse(virsh.outputOf(answer, action)) as { return: unknown }).return
}

function asciiJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
