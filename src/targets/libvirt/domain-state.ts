// What the state of a domain means for the machine that it is.

import { HoldfastError } from '../../lib/errors.ts'
import type { Domain, DomainState } from './hypervisor.ts'

/** It has processes; a paused one, too. */
export function isOn({ state }: DomainState): boolean {
  return state !== 'shut off' && state !== 'crashed'
}

/** Nobody in it answers until it goes on. `uri`: of its hypervisor. */
export function pausedError(
  machine: string,
  uri: string,
  { name, reason }: Pick<Domain, 'name' | 'reason'>,
): HoldfastError {
  const why = reason === undefined ? '' : ` (${reason})`
  return new HoldfastError('MachinePaused', `Cannot reach "${machine}": its domain "${name}" is paused${why}`, {
    hint: `${isDiskProblem(reason) ? 'free space in the pool of its disks, then ' : ''}let it go on with "virsh -c ${uri} resume ${name}"`,
  })
}

/** What libvirt says when a disk does not take any more: a full pool above all. */
function isDiskProblem(reason: string | undefined): boolean {
  return reason === 'I/O error'
}
