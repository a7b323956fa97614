// Ports and networks that no other test uses meanwhile, in this run or in another one on the same host: a file with the
// process id of the owner, which counts for as long as that process lives.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const DIRECTORY = join(tmpdir(), `holdfast-test-reservations-${process.getuid?.() ?? 0}`)

/** Whether `what` is now reserved for this process, until it ends. */
export function reserve(what: string): boolean {
  mkdirSync(DIRECTORY, { recursive: true })
  const file = join(DIRECTORY, what)
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // A process that was killed leaves its files behind: the next one that comes along gets the reservation.
    if (!isAlive(file)) rmSync(file, { force: true })
    return false
  }
  process.once('exit', () => rmSync(file, { force: true }))
  return true
}

function isAlive(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    // Just created, and not written yet.
    if (pid === 0) return true
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
