// The help: the list of commands, and the options of one. Lines are broken at the width of the terminal.

import type { Command } from './command.ts'
import { wrap } from './wrap.ts'

/** Where there is no terminal. */
export const HELP_WIDTH = 80
/** Longer options have a line of their own, above their description. */
const LONGEST_LEFT = 30

/** `prefix` is the first word of a family such as `zone`; empty for all commands. */
export function overview(commands: readonly Command[], prefix: string, width: number): string {
  const words = ['holdfast', ...(prefix === '' ? [] : [prefix])].join(' ')
  const closing = `"${words} COMMAND --help" shows the options of a command`
  const lines = [
    `Usage: ${words} COMMAND [OPTIONS]`,
    '',
    ...columns(
      commands.map((command) => [command.name, command.summary]),
      width,
    ),
    '',
    ...wrap(prefix === '' ? `${closing}; "holdfast --version" shows the version.` : `${closing}.`, width),
  ]
  return `${lines.join('\n')}\n`
}

export function helpOf(command: Command, width: number): string {
  const rows = Object.entries(command.options).map(([name, { value, bare, summary, repeat }]) => {
    const placeholder = value === undefined ? '' : bare === undefined ? ` ${value}` : `[=${value}]`
    return [`--${name}${placeholder}`, repeat ? `${summary} (may be repeated)` : summary] as const
  })
  const start = `Usage: holdfast ${command.name} `
  const [first, ...more] = wrap(command.usage, width - start.length)
  const usage = [`${start}${first}`, ...more.map((line) => `${' '.repeat(start.length)}${line}`)]
  return `${[...usage, '', ...wrap(command.summary, width), '', ...columns(rows, width)].join('\n')}\n`
}

function columns(rows: readonly (readonly [string, string])[], width: number): string[] {
  const left = Math.min(LONGEST_LEFT, Math.max(0, ...rows.map(([word]) => word.length)))
  const indent = ' '.repeat(2 + left + 2)
  return rows.flatMap(([word, text]) => {
    const [first, ...more] = wrap(text, Math.max(20, width - indent.length))
    const rest = more.map((line) => `${indent}${line}`)
    if (word.length > left) return [`  ${word}`, `${indent}${first}`, ...rest]
    return [`  ${word.padEnd(left)}  ${first}`.trimEnd(), ...rest]
  })
}
