// The guest agent of a virtual machine, by virsh. An agent that refuses a command has answered: then libvirt names the command,
// in whatever language it tells the rest. Any other failure means that nobody answered.

import { HoldfastError } from '../../lib/errors.ts'
import type { AgentCommand } from './hypervisor.ts'
import { virshError } from './virsh-errors.ts'
import type { VirshProcess } from './virsh-process.ts'

/** For the connection, and for libvirt to see that an agent does not answer. */
const SPARE_MS = 20_000

export async function askAgent(
  virsh: VirshProcess,
  domain: string,
  command: AgentCommand,
  timeoutMs: number,
): Promise<unknown> {
  const action = `ask the guest agent of domain "${domain}"`
  const seconds = String(Math.max(1, Math.ceil(timeoutMs / 1000)))
  const words = ['qemu-agent-command', '--domain', domain, '--timeout', seconds, '--cmd', asciiJson(command)]
  const answer = await virsh.askInSecret(words, { action, timeoutMs: timeoutMs + SPARE_MS })
  if ('output' in answer) return (JSON.parse(answer.output) as { return: unknown }).return
  const error = virshError(action, virsh.uri, answer.failure)
  if (error.code !== 'LibvirtFailed' || answer.failure.includes(command.execute)) throw error
  throw new HoldfastError('GuestSilent', error.message, { retryable: true })
}

function asciiJson(value: AgentCommand): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
