// What a later round of a confirmed change may do. Its plan was not shown: it is expected to have new certificates, and the
// reloads and restarts they cause, and nothing else.

import { HoldfastError } from '../lib/errors.ts'
import type { MachinePlan, Plan } from './plan.ts'

export function refuseMore({ stack, machines, restarts }: Plan): void {
  const names = [...machines.flatMap(othersOf), ...restarts.map(({ machine }) => `restart of PostgreSQL on ${machine}`)]
  if (names.length === 0) return
  throw new HoldfastError(
    'RoundUnplanned',
    `Cannot finish the change of the authority of "${stack}": more has changed since the plan was confirmed: ${names.join(', ')}; expected certificates only`,
    { hint: 'run "holdfast up" again: its plan shows the rest', retryable: true },
  )
}

function othersOf({ machine, action, details }: MachinePlan): string[] {
  if (action === 'create' || action === 'replace' || action === 'delete') return [`${action} ${machine}`]
  const others = details.filter(({ what }) => what !== 'certificate')
  return others.map(({ what, name }) => `${what} ${name} on ${machine}`)
}
