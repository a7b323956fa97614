// The table of commands, and what all of them share: help, version, and errors turned into exit codes.

import { closest } from '../lib/closest.ts'
import { HoldfastError } from '../lib/errors.ts'
import { type Command, EXIT, type Io } from './command.ts'
import { dnsCommand } from './dns.ts'
import { downCommand } from './down.ts'
import { logsCommand } from './logs.ts'
import { planCommand } from './plan.ts'
import { publishZonefilesCommand } from './publish-zonefiles.ts'
import { recordLsCommand } from './record-ls.ts'
import { recordRmCommand } from './record-rm.ts'
import { recordSetCommand } from './record-set.ts'
import { renderCommand } from './render.ts'
import { statusCommand } from './status.ts'
import { superviseCommand } from './supervise.ts'
import { printable } from './table.ts'
import { upCommand } from './up.ts'
import { version } from './version.ts'
import { zoneCheckCommand } from './zone-check.ts'
import { zoneDiffCommand } from './zone-diff.ts'
import { zoneGetCommand } from './zone-get.ts'
import { zoneLsCommand } from './zone-ls.ts'
import { zonePutCommand } from './zone-put.ts'
import { zoneRmCommand } from './zone-rm.ts'

const COMMANDS: readonly Command[] = [
  upCommand,
  planCommand,
  statusCommand,
  logsCommand,
  downCommand,
  renderCommand,
  dnsCommand,
  publishZonefilesCommand,
  zoneLsCommand,
  zoneGetCommand,
  zonePutCommand,
  zoneCheckCommand,
  zoneDiffCommand,
  zoneRmCommand,
  recordLsCommand,
  recordSetCommand,
  recordRmCommand,
  superviseCommand,
]

/** Codes of errors in a file the user wrote; every other code means the work itself failed. */
const INVALID_INPUT: ReadonlySet<string> = new Set([
  'CorefileInvalid',
  'NamesInvalid',
  'PublishConfigInvalid',
  'StackInvalid',
])

/** Runs one command line and resolves to the exit code. Rejects only on a defect of the program. */
export async function run(argv: readonly string[], io: Io, commands: readonly Command[] = COMMANDS): Promise<number> {
  try {
    return await dispatch(argv, io, commands)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const lines = `${error.message}\n${error.hint ?? ''}`.trimEnd().split('\n')
    io.stderr.write(lines.map((line) => `holdfast: ${printable(line)}\n`).join(''))
    if (error.code === 'Usage') return EXIT.usage
    return INVALID_INPUT.has(error.code) ? EXIT.invalidInput : EXIT.failed
  }
}

async function dispatch(argv: readonly string[], io: Io, commands: readonly Command[]): Promise<number> {
  const [first] = argv
  if (first === undefined) {
    io.stderr.write(overview(commands))
    return EXIT.usage
  }
  if (/^(--?version|version)$/u.test(first)) {
    io.stdout.write(`holdfast ${version()} (node ${process.versions.node})\n`)
    return EXIT.done
  }
  if (isHelp(first) || first === 'help') {
    const topic = argv.slice(1).filter((word) => !isHelp(word))
    const members = commands.filter(({ name }) => topic.length === 1 && name.startsWith(`${topic[0]} `))
    if (members.length > 0) {
      io.stdout.write(overview(members))
      return EXIT.done
    }
    const match = topic.length === 0 ? undefined : findCommand(topic, commands).command
    io.stdout.write(match === undefined ? overview(commands) : helpOf(match))
    return EXIT.done
  }
  const family = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (family.length > 0 && argv.length > 1 && isHelp(argv[1])) {
    io.stdout.write(overview(family))
    return EXIT.done
  }
  const { command, rest } = findCommand(argv, commands)
  const end = rest.indexOf('--')
  if (rest.slice(0, end === -1 ? rest.length : end).some(isHelp)) {
    io.stdout.write(helpOf(command))
    return EXIT.done
  }
  return command.run(rest, io)
}

function findCommand(
  argv: readonly string[],
  commands: readonly Command[],
): { command: Command; rest: readonly string[] } {
  for (const command of commands) {
    const words = command.name.split(' ')
    if (words.every((word, index) => argv[index] === word)) return { command, rest: argv.slice(words.length) }
  }
  // `zone chekc` is compared as a whole with the commands of its first word, anything else by its first word.
  const [first] = argv
  const names = commands.map((each) => each.name)
  const family = names.filter((name) => name.startsWith(`${first} `))
  const typed = family.length > 0 ? argv.slice(0, 2).join(' ') : first
  const candidates = family.length > 0 ? family : names
  const near = closest(typed, candidates)
  const known = near === undefined ? `known commands: ${candidates.join(', ')}` : `did you mean "${near}"?`
  throw new HoldfastError('Usage', `Cannot run "holdfast ${typed}": no such command; ${known}`, {
    hint: '"holdfast --help" lists the commands',
  })
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-help' || word === '-h'
}

function overview(commands: readonly Command[]): string {
  const rows = commands.map((command) => [command.name, command.summary] as const)
  return [
    'Usage: holdfast COMMAND [OPTIONS]',
    '',
    ...columns(rows),
    '',
    '"holdfast COMMAND --help" shows the options of a command; "holdfast --version" the version.',
    '',
  ].join('\n')
}

function helpOf(command: Command): string {
  const rows = Object.entries(command.options).map(([name, { value, bare, summary, repeat }]) => {
    const placeholder = value === undefined ? '' : bare === undefined ? ` ${value}` : `[=${value}]`
    return [`--${name}${placeholder}`, repeat ? `${summary} (may be repeated)` : summary] as const
  })
  const lines = [`Usage: holdfast ${command.name} ${command.usage}`, '', command.summary]
  return `${[...lines, '', ...columns(rows)].join('\n')}\n`
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
