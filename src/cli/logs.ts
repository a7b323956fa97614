// `holdfast logs`: what the services of a stack, or of one of its machines, have written.

import { HoldfastError } from '../lib/errors.ts'
import { suggestion } from '../lib/closest.ts'
import { hasColour } from './colour.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { logFormatter } from './log-lines.ts'
import { openHandle, stackOptions } from './stack-choice.ts'

const DEFAULT_LINES = 20

export const logsCommand = command({
  name: 'logs',
  summary: 'Show the logs of a stack or of some of its machines',
  usage: '[MACHINE...] [--follow] [--lines N] [--file FILE]',
  positionals: ['[MACHINE...]'],
  options: {
    ...stackOptions,
    file: {
      value: 'FILE',
      summary: 'the stack file, or the name of the stack; the one in this directory unless given',
    },
    follow: { summary: 'go on with what is written from now on' },
    lines: { value: 'N', summary: `how many lines of each service to begin with; ${DEFAULT_LINES} unless given` },
  },
  async run({ positionals, options }, io) {
    const { target } = await openHandle({ positionals: options.file === undefined ? [] : [options.file], options }, io)
    const known = [...(await target.machines()).keys()]
    for (const { where, error } of target.unread()) io.stderr.write(`holdfast: ${where}: ${error.message}\n`)
    const unknown = positionals.find((machine) => !known.includes(machine))
    if (unknown !== undefined) throw noMachine(unknown, known)
    const machines = positionals.length > 0 ? positionals : known
    const format = logFormatter(machines, hasColour(io, io.stdout))
    const signal = io.stopSignal()
    for await (const line of target.logs(machines, {
      lines: parseLines(options.lines),
      follow: options.follow,
      signal,
    }))
      io.stdout.write(format(line))
    return EXIT.done
  },
})

function parseLines(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LINES
  if (/^\d{1,9}$/u.test(text)) return Number(text)
  throw new HoldfastError('Usage', `Cannot show "${text}" lines: not a number; expected a number after --lines`)
}

function noMachine(name: string, known: readonly string[]): HoldfastError {
  return new HoldfastError('Usage', `Cannot show the logs of "${name}": no such machine; ${suggestion(name, known)}`)
}
