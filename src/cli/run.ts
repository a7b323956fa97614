// The table of commands, and what all of them share: help, version, and errors turned into exit codes.

import { closest } from '../lib/closest.ts'
import { HoldfastError } from '../lib/errors.ts'
import { type Command, EXIT, type Io } from './command.ts'
import { printable } from './table.ts'
import { version } from './version.ts'

/** A command is loaded when it is run: most need only a part of the program. */
export interface CommandEntry {
  readonly name: string
  readonly load: () => Promise<Command>
}

const COMMANDS: readonly CommandEntry[] = [
  { name: 'up', load: async () => (await import('./up.ts')).upCommand },
  { name: 'plan', load: async () => (await import('./plan.ts')).planCommand },
  { name: 'status', load: async () => (await import('./status.ts')).statusCommand },
  { name: 'logs', load: async () => (await import('./logs.ts')).logsCommand },
  { name: 'down', load: async () => (await import('./down.ts')).downCommand },
  { name: 'doctor', load: async () => (await import('./doctor.ts')).doctorCommand },
  { name: 'render', load: async () => (await import('./render.ts')).renderCommand },
  { name: 'dns', load: async () => (await import('./dns.ts')).dnsCommand },
  { name: 'publish zonefiles', load: async () => (await import('./publish-zonefiles.ts')).publishZonefilesCommand },
  { name: 'publish kubernetes', load: async () => (await import('./publish-kubernetes.ts')).publishKubernetesCommand },
  { name: 'publish webhook', load: async () => (await import('./publish-webhook.ts')).publishWebhookCommand },
  { name: 'publish kubevirt', load: async () => (await import('./publish-kubevirt.ts')).publishKubevirtCommand },
  { name: 'zone ls', load: async () => (await import('./zone-ls.ts')).zoneLsCommand },
  { name: 'zone get', load: async () => (await import('./zone-get.ts')).zoneGetCommand },
  { name: 'zone put', load: async () => (await import('./zone-put.ts')).zonePutCommand },
  { name: 'zone check', load: async () => (await import('./zone-check.ts')).zoneCheckCommand },
  { name: 'zone diff', load: async () => (await import('./zone-diff.ts')).zoneDiffCommand },
  { name: 'zone rm', load: async () => (await import('./zone-rm.ts')).zoneRmCommand },
  { name: 'record ls', load: async () => (await import('./record-ls.ts')).recordLsCommand },
  { name: 'record set', load: async () => (await import('./record-set.ts')).recordSetCommand },
  { name: 'record rm', load: async () => (await import('./record-rm.ts')).recordRmCommand },
  { name: 'image build', load: async () => (await import('./image-build.ts')).imageBuildCommand },
  { name: 'image ls', load: async () => (await import('./image-ls.ts')).imageLsCommand },
  { name: 'image rm', load: async () => (await import('./image-rm.ts')).imageRmCommand },
  { name: 'supervise', load: async () => (await import('./supervise.ts')).superviseCommand },
]

/** Codes of errors in a file the user wrote; every other code means the work itself failed. */
const INVALID_INPUT: ReadonlySet<string> = new Set([
  'CorefileInvalid',
  'NamesInvalid',
  'PublishConfigInvalid',
  'StackInvalid',
  'AuthorityInvalid',
  'CertificateNameInvalid',
  'ImageListInvalid',
])

/** Codes of errors in flags and variables. */
const WRONG_USAGE: ReadonlySet<string> = new Set(['Usage', 'SelectorInvalid', 'TemplateInvalid', 'KubevirtInvalid'])

/** Runs one command line and resolves to the exit code. Rejects only on a defect of the program. */
export async function run(
  argv: readonly string[],
  io: Io,
  commands: readonly CommandEntry[] = COMMANDS,
): Promise<number> {
  const signals: AbortSignal[] = []
  try {
    return await dispatch(argv, noting(io, signals), commands)
  } catch (thrown) {
    const error = signals.some((signal) => isAbort(thrown, signal)) ? interrupted() : thrown
    if (!(error instanceof HoldfastError)) throw error
    const lines = `${error.message}\n${error.hint ?? ''}`.trimEnd().split('\n')
    io.stderr.write(lines.map((line) => `holdfast: ${printable(line)}\n`).join(''))
    if (WRONG_USAGE.has(error.code)) return EXIT.usage
    return INVALID_INPUT.has(error.code) ? EXIT.invalidInput : EXIT.failed
  }
}

/** Every signal that is asked for is noted. The rest stays what it is: who looks at stdin makes a stream of it. */
function noting(io: Io, signals: AbortSignal[]): Io {
  const stopSignal = () => {
    const signal = io.stopSignal()
    signals.push(signal)
    return signal
  }
  return Object.create(io, { stopSignal: { value: stopSignal } }) as Io
}

/** What a timer, a fetch or a stream throws that was ended by the signal. */
function isAbort(thrown: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (thrown === signal.reason || (thrown instanceof Error && thrown.name === 'AbortError'))
}

function interrupted(): HoldfastError {
  return new HoldfastError('Interrupted', 'Cannot go on: interrupted; what was done so far stays')
}

async function dispatch(argv: readonly string[], io: Io, commands: readonly CommandEntry[]): Promise<number> {
  const [first] = argv
  if (first === undefined) {
    io.stderr.write(await overview(commands))
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
      io.stdout.write(await overview(members))
      return EXIT.done
    }
    const match = topic.length === 0 ? undefined : findCommand(topic, commands).entry
    io.stdout.write(match === undefined ? await overview(commands) : helpOf(await match.load()))
    return EXIT.done
  }
  const family = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (family.length > 0 && argv.length > 1 && isHelp(argv[1])) {
    io.stdout.write(await overview(family))
    return EXIT.done
  }
  const { entry, rest } = findCommand(argv, commands)
  const command = await entry.load()
  const end = rest.indexOf('--')
  if (rest.slice(0, end === -1 ? rest.length : end).some(isHelp)) {
    io.stdout.write(helpOf(command))
    return EXIT.done
  }
  return command.run(rest, io)
}

function findCommand(
  argv: readonly string[],
  commands: readonly CommandEntry[],
): { entry: CommandEntry; rest: readonly string[] } {
  for (const entry of commands) {
    const words = entry.name.split(' ')
    if (words.every((word, index) => argv[index] === word)) return { entry, rest: argv.slice(words.length) }
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

async function overview(entries: readonly CommandEntry[]): Promise<string> {
  const commands = await Promise.all(entries.map((entry) => entry.load()))
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
