// Stops a process as it is: connections stay, nothing is answered. Threads that were about to run may do so after the signal
// was sent, so that this returns only when all of them stand still.

import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export function standStill(child: ChildProcess | undefined): void {
  if (child?.pid === undefined) return
  child.kill('SIGSTOP')
  const { pid } = child
  while (!isStopped(pid)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
}

function isStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`
  // The state follows the name, which is in parentheses.
  return readdirSync(tasks).every((task) => /\) T /u.test(readFileSync(`${tasks}/${task}/stat`, 'latin1')))
}
