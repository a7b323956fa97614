// The directories of all stacks that have a supervisor on this host, ours or root's, wherever they are. What a process was
// started with proves nothing: anybody can start one with the same words.

import { statSync } from 'node:fs'
import { layoutOf } from './layout.ts'
import { findSupervisor } from './supervisor/keeper.ts'
import { allProcesses, commandOf, userOf } from './supervisor/process-table.ts'

export function supervisedDirectories(): readonly string[] {
  const directories = allProcesses().flatMap(({ pid }) => {
    const [word, directory] = commandOf(pid).slice(-2)
    return word === 'supervise' && isSupervisor(pid, directory) ? [directory] : []
  })
  return [...new Set(directories)]
}

function isSupervisor(pid: number, directory: string): boolean {
  const layout = layoutOf(directory)
  const user = userOf(pid)
  if (user === process.getuid?.()) return findSupervisor(layout) === pid
  // Which process it is we may not read; that there is such a directory of root's will do.
  return user === 0 && statSync(layout.supervisor, { throwIfNoEntry: false })?.uid === 0
}
