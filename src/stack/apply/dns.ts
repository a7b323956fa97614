// Name servers, and proxies: they know nothing of each other, so new ones start at once and changed ones take turns.

import type { MachineKind } from '../../machine/machine.ts'
import { untilReady } from './wait.ts'
import { applyAll, applyMachine, discardMachine, needsRestart, removeMachine, sortMachines, type Work } from './work.ts'

export async function applyIndependent(work: Work, kind: MachineKind & ('dns' | 'haproxy')): Promise<void> {
  const { all, created, stopped, changed, replaced, gone } = sortMachines(work, kind)
  await applyAll(work, [...created, ...stopped])
  for (const machine of changed) {
    await applyMachine(work, machine)
    if (needsRestart(work, machine)) await untilReady(work, kind, { machines: [machine.name] })
  }
  for (const machine of replaced) {
    await discardMachine(work, machine)
    await applyMachine(work, machine)
    await untilReady(work, kind, { machines: [machine.name] })
  }
  for (const machine of gone) await removeMachine(work, machine)
  if (all.length > 0) await untilReady(work, kind)
}
