// The last thing a service said before it ended: most often the reason.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const TAIL_BYTES = 4096
const LONGEST = 300

/** Undefined when its log is empty or cannot be read. */
export function lastLine(log: string): string | undefined {
  let fd: number
  try {
    fd = openSync(log, 'r')
  } catch {
    return undefined
  }
  try {
    const { size } = fstatSync(fd)
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
    const count = readSync(fd, bytes, 0, bytes.length, size - bytes.length)
    const lines = bytes.toString('utf8', 0, count).split('\n')
    const line = lines
      .map((each) => each.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/gu, ' ').trim())
      .findLast((each) => each !== '')
    return line === undefined || line.length <= LONGEST ? line : `${line.slice(0, LONGEST)}…`
  } finally {
    closeSync(fd)
  }
}
