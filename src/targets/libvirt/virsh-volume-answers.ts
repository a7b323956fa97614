// Whether a volume is not there, or only cannot be asked for. Why it was not found is told in the language of the host, so the reason is
// compared, not read: of a volume that is missing libvirt says what it says of one that nobody can have made. A storage that does
// not answer says the same of both, and does not list its pools either.

import { randomUUID } from 'node:crypto'
import type { Answer, Asked, VirshProcess } from './virsh-process.ts'

export interface VolumeAnswers {
  /** In the order of the commands. */
  readonly answers: readonly Answer[]
  readonly isMissing: (answer: Answer) => boolean
}

/** What was not found is told by virsh, and so in English; the lines after that are the host's. */
const NOT_FOUND = /^error: failed to get (vol|pool) '.*\n([^]*)/mu

const NO_REASON = 'error: '

export async function askForVolumes(
  virsh: VirshProcess,
  commands: readonly (readonly string[])[],
  asked: Asked,
): Promise<VolumeAnswers> {
  const nobody = `none-${randomUUID()}`
  const compared = [
    ['pool-list', '--all', '--name'],
    ['vol-dumpxml', '--vol', nobody],
    ['vol-dumpxml', '--vol', nobody, '--pool', nobody],
  ]
  const all = await virsh.ask([...commands, ...compared], asked)
  const [pools, ...nones] = all.slice(commands.length)
  const isMissing = (answer: Answer) => 'output' in pools && nones.some((none) => isAs(answer, none, nobody))
  return { answers: all.slice(0, commands.length), isMissing }
}

/** As far as the name, which is what differs. virsh itself says nothing of one that libvirt knew, and whose file somebody removed. */
function isAs(answer: Answer, none: Answer, nobody: string): boolean {
  const [missing, compared] = [notFound(answer), notFound(none)]
  const [same] = compared?.reason.split(nobody) ?? []
  if (same === undefined || !('failure' in answer)) return false
  if (missing === undefined) return same.length > NO_REASON.length && answer.failure.startsWith(same)
  return missing.what === compared?.what && missing.reason.startsWith(same)
}

function notFound(answer: Answer): { readonly what: string; readonly reason: string } | undefined {
  const found = 'failure' in answer ? NOT_FOUND.exec(answer.failure) : null
  return found === null ? undefined : { what: found[1], reason: found[2] }
}
