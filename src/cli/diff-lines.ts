// Lines that went and came, with `-` and `+` in front; in colour on a terminal.

import { hasColour, painter } from './colour.ts'
import type { Io } from './command.ts'

interface DiffLines {
  readonly gone: (line: string) => void
  readonly come: (line: string) => void
}

export function diffLines(io: Io, out: Io['stdout']): DiffLines {
  const paint = painter(hasColour(io, out))
  return {
    gone: (line) => out.write(`${paint('red', `- ${line}`)}\n`),
    come: (line) => out.write(`${paint('green', `+ ${line}`)}\n`),
  }
}
