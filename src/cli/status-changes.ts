// What happened between two looks at a stack, in words: `postgres-2: sync standby → primary`. Values that move all the
// time, such as lag, are no change.

import type { MachineStatus, StackStatus } from '../stack/status.ts'

export interface StatusChange {
  /** A machine, a name, or the stack. */
  readonly subject: string
  readonly text: string
}

export function statusChanges(before: StackStatus, after: StackStatus): StatusChange[] {
  const old = new Map(before.machines.map((machine) => [machine.machine, machine]))
  const kept = new Set(after.machines.map(({ machine }) => machine))
  const machines = after.machines.map((machine) => ({
    subject: machine.machine,
    text: machineChange(old.get(machine.machine), machine),
  }))
  const gone = [...old.keys()].filter((name) => !kept.has(name)).map((subject) => ({ subject, text: 'removed' }))
  return [...machines, ...gone, ...nameChanges(before, after), stackChange(before, after)].filter(
    ({ text }) => text !== '',
  )
}

function machineChange(before: MachineStatus | undefined, after: MachineStatus): string {
  if (before === undefined) return 'added'
  const { state, role, address, version, certificateExpires, restarts, lastError, problem } = after
  const changes = [
    arrow(before.state, state),
    role === undefined ? '' : arrow(before.role, role),
    arrow(before.address, address),
    version === undefined ? '' : arrow(before.version, version),
    certificateExpires === before.certificateExpires ? '' : 'certificate replaced',
    restarts > before.restarts ? `restarted by itself, ${restarts} so far` : '',
    lastError === undefined || lastError.at === before.lastError?.at
      ? ''
      : `${lastError.service}: ${lastError.message}`,
    problem === before.problem ? '' : (problem ?? ''),
  ]
  return changes.filter((change) => change !== '').join(', ')
}

function nameChanges(before: StackStatus, after: StackStatus): StatusChange[] {
  const answers = ({ names }: StackStatus) =>
    new Map(names.map(({ name, addresses }) => [name, addresses.toSorted().join(' ') || 'no answer']))
  const old = answers(before)
  return [...answers(after)].map(([subject, text]) => ({ subject, text: arrow(old.get(subject), text) }))
}

function stackChange(before: StackStatus, after: StackStatus): StatusChange {
  const words = ({ state, problems }: StackStatus) => [state, ...problems].join(', ').replace(', ', ': ')
  return { subject: after.stack, text: before.state === after.state ? '' : words(after) }
}

function arrow(before: string | undefined, after: string): string {
  if (before === after) return ''
  return before === undefined ? after : `${before} → ${after}`
}
