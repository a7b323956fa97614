// The processes of a stack: those that work below its directory, as all of its services do.

import { existsSync, realpathSync } from 'node:fs'
import { basename, sep } from 'node:path'
import { allProcesses, commandOf, workingDirectoryOf } from '../supervisor/process-table.ts'

/** By process id, the path below the directory that it works in: `machines/etcd-1/var/lib/etcd`. */
export function processesBelow(directory: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>()
  if (!existsSync(directory)) return found
  // The kernel knows no symbolic links.
  const prefix = realpathSync(directory) + sep
  for (const { pid } of allProcesses()) {
    const place = workingDirectoryOf(pid)
    if (place?.startsWith(prefix)) found.set(pid, place.slice(prefix.length))
  }
  return found
}

/** Machines of which at least one process runs. */
export function runningMachines(processes: ReadonlyMap<number, string>): ReadonlySet<string> {
  return new Set(
    [...processes.values()]
      .map((path) => path.split(sep))
      .filter(([first]) => first === 'machines')
      .map(([, machine]) => machine),
  )
}

/** Its program and, with an interpreter, the script: `python3 /usr/bin/patroni`. Not more, as arguments may be secret. */
export function describeProcess(pid: number): string {
  const [program = 'of unknown name', script = ''] = commandOf(pid)
  return script.startsWith('/') ? `${basename(program)} ${script}` : basename(program)
}
