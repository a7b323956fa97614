// Why a stack could not be taken down as a whole: machines of others are left alone, and what does not answer is left behind.

import { HoldfastError } from '../lib/errors.ts'
import type { Unread } from '../targets/target.ts'

export function isForeign({ error }: Unread): boolean {
  return error.code === 'StackElsewhere'
}

/** Whoever made it may still need it. */
export function elsewhere(name: string, { where, error }: Unread): HoldfastError {
  return new HoldfastError(
    'StackElsewhere',
    `Cannot take "${name}" down: ${where} belongs to a stack of that name that was made from another place; nothing was touched`,
    {
      hint: 'work from where it was made; if it is yours and the directory of its state is lost, "holdfast down --foreign" takes it down all the same',
      cause: error,
    },
  )
}

/** Its directory stays, too: it says where they are. */
export function leftover(name: string, left: readonly Unread[]): HoldfastError {
  const what = left.map((each) =>
    isSilent(each) ? `${each.where} did not answer` : `${each.where} has a damaged record`,
  )
  const message = `Cannot take all of "${name}" down: ${what.join(', ')}; what could be reached is down`
  const silent = left.find(isSilent)
  const { where, error } = silent ?? left[0]
  const reason = [`${where}: ${error.message}`, error.hint, 'then the same command again'].filter(Boolean).join('; ')
  if (silent === undefined) return new HoldfastError('StateInvalid', message, { hint: reason, cause: error })
  const hint = `${reason}, or with "--without ${where}" if that host is gone for good`
  return new HoldfastError('HypervisorUnreachable', message, { hint, retryable: true, cause: error })
}

/** Whatever it is that a hypervisor failed by; a record that was damaged is something that it did say. */
function isSilent({ error }: Unread): boolean {
  return error.code !== 'StateInvalid'
}

/** The user was asked about others. */
export function otherMachines(stack: string, now: readonly string[]): HoldfastError {
  return new HoldfastError(
    'StackChanged',
    `Cannot take down "${stack}": its machines have changed since the question (now: ${now.join(', ') || 'none'}); nothing was changed`,
    { hint: 'run the command again', retryable: true },
  )
}
