// The directories of all stacks that have a supervisor on this host, whoever keeps them and wherever they are.

import { allProcesses, commandOf } from './supervisor/process-table.ts'

export function supervisedDirectories(): readonly string[] {
  const directories = allProcesses().flatMap(({ pid }) => {
    const [program, ...words] = commandOf(pid)
    // Its keeper has the same words at its end, but is a shell.
    return program !== 'sh' && words.at(-2) === 'supervise' ? (words.at(-1) ?? []) : []
  })
  return [...new Set(directories)]
}
