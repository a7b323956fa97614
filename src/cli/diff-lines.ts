// Lines that went and came, with `-` and `+` in front; in colour on a terminal.

import type { Io } from './command.ts'

interface DiffLines {
  readonly gone: (line: string) => void
  readonly come: (line: string) => void
}

export function diffLines(io: Io, out: Io['stdout']): DiffLines {
  const colour = out.isTTY === true && (io.env.NO_COLOR ?? '') === ''
  const write = (code: number, line: string) => {
    out.write(colour ? `\u001b[${code}m${line}\u001b[0m\n` : `${line}\n`)
  }
  return {
    gone: (line) => write(31, `- ${line}`),
    come: (line) => write(32, `+ ${line}`),
  }
}
