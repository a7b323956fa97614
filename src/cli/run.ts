// The table of commands, and what all of them share: help, version, and errors and signals turned into exit codes.

import { HoldfastError } from '../lib/errors.ts'
import type { Io } from './command.ts'
import { asksForJson, errorJson, errorLines } from './error-output.ts'
import { EXIT, exitCodeAfter, exitCodeOf } from './exit-code.ts'
import { type CommandEntry, familyOf, findCommand } from './find-command.ts'
import { HELP_WIDTH, helpOf, overview } from './help.ts'
import { widthOf } from './live-area.ts'
import { version } from './version.ts'

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

/** Runs one command line and resolves to the exit code. Rejects only on a defect of the program. */
export async function run(
  argv: readonly string[],
  io: Io,
  commands: readonly CommandEntry[] = COMMANDS,
): Promise<number> {
  const signals: AbortSignal[] = []
  const noted = noting(io, signals)
  const task: Task = { argv, io: noted, commands, isServer: false }
  try {
    const code = await dispatch(task)
    return afterSignal(signals, code, task.isServer)
  } catch (thrown) {
    const error = signals.some((signal) => isAbort(thrown, signal)) ? interrupted() : thrown
    if (!(error instanceof HoldfastError)) throw error
    const code = afterSignal(signals, exitCodeOf(error), task.isServer)
    io.stderr.write(asksForJson(argv) ? errorJson(error, code) : errorLines(error))
    return code
  }
}

interface Task {
  readonly argv: readonly string[]
  readonly io: Io
  readonly commands: readonly CommandEntry[]
  /** Set when the command is known. */
  isServer: boolean
}

function afterSignal(signals: readonly AbortSignal[], code: number, isServer: boolean): number {
  const ended = signals.find(({ aborted }) => aborted)
  return ended === undefined ? code : exitCodeAfter(ended.reason, code, isServer)
}

/** Notes every signal that a command asks for. Everything else stays as it is: looking at stdin makes a stream of it. */
function noting(io: Io, signals: AbortSignal[]): Io {
  const stopSignal = () => {
    const signal = io.stopSignal()
    signals.push(signal)
    return signal
  }
  return Object.create(io, { stopSignal: { value: stopSignal } }) as Io
}

/** Whether a timer, a fetch or a stream threw this because the signal ended it. */
function isAbort(thrown: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (thrown === signal.reason || (thrown instanceof Error && thrown.name === 'AbortError'))
}

function interrupted(): HoldfastError {
  return new HoldfastError('Interrupted', 'Interrupted; what was done so far stays')
}

async function dispatch(task: Task): Promise<number> {
  const { argv, io, commands } = task
  const [first] = argv
  if (first === undefined) {
    io.stderr.write(await listOf(commands, '', io.stderr))
    return EXIT.usage
  }
  if (/^(?:--?version|version|-[vV])$/u.test(first)) {
    io.stdout.write(`holdfast ${version()} (node ${process.versions.node})\n`)
    return EXIT.done
  }
  const isAsked = isHelp(first) || first === 'help'
  const topic = isAsked ? argv.slice(1).filter((word) => !isHelp(word)) : argv
  const [family = ''] = topic
  const members = familyOf(family, commands)
  if (isAsked && topic.length === 0) return help(await listOf(commands, '', io.stdout), io)
  if (members.length > 0 && (isAsked ? topic.length === 1 : argv.length > 1 && isHelp(argv[1])))
    return help(await listOf(members, family, io.stdout), io)
  const { entry, rest } = findCommand(topic, commands)
  const command = await entry.load()
  const end = rest.indexOf('--')
  if (isAsked || rest.slice(0, end === -1 ? rest.length : end).some(isHelp))
    return help(helpOf(command, widthFor(io.stdout)), io)
  task.isServer = command.isServer
  return command.run(rest, io)
}

function help(text: string, io: Io): number {
  io.stdout.write(text)
  return EXIT.done
}

async function listOf(entries: readonly CommandEntry[], prefix: string, out: Io['stdout']): Promise<string> {
  return overview(await Promise.all(entries.map((entry) => entry.load())), prefix, widthFor(out))
}

function widthFor(out: Io['stdout']): number {
  return widthOf(out) ?? HELP_WIDTH
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-help' || word === '-h'
}
