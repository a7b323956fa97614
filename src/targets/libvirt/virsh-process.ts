// How virsh is run. Each process is a connection, by ssh a slow one, so it gets many commands in one argument, with a mark
// between the answers on both of its outputs: one that fails does not keep the next from being tried.
// What may hold a secret must not be an argument, which others can see: it is read from standard input, where virsh takes
// itself for a terminal. So history, key bindings and bytes that readline takes for keys are kept away from it.

import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HoldfastError } from '../../lib/errors.ts'
import { type Captured, capture } from '../../lib/exec.ts'
import { withTemporaryDirectory } from './temporary-directory.ts'
import { Turns } from './turns.ts'
import { isLost, unreachable, virshError } from './virsh-errors.ts'

export interface VirshOptions {
  readonly signal: AbortSignal
  readonly env: Readonly<Record<string, string | undefined>>
  /** Words before `virsh`: how it is started where it does not run on the host as it is, but in namespaces. */
  readonly prefix?: readonly string[]
}

/** What a command printed, or why it failed, in virsh's own words. */
export type Answer = { readonly output: string } | { readonly failure: string }

export interface Asked {
  /** Continues "Cannot", such as `start domain "x"`. */
  readonly action: string
  readonly timeoutMs: number
}

interface Fed {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: Uint8Array
}

/** The kernel takes 128 KiB in one argument. */
const LONGEST_ARGUMENT = 100_000
/** Processes; sshd refuses some as soon as ten have not logged in yet. */
const AT_ONCE = { local: 16, remote: 4 } as const

export class VirshProcess {
  readonly uri: string
  readonly #options: VirshOptions
  readonly #turns: Turns

  constructor(uri: string, options: VirshOptions) {
    this.uri = uri
    this.#options = options
    this.#turns = new Turns(isLocalUri(uri) ? AT_ONCE.local : AT_ONCE.remote)
  }

  get isOfContainers(): boolean {
    return this.uri.startsWith('lxc')
  }

  /** The answers, in the order of the commands. Rejects when the connection fails or breaks, whatever was answered before. */
  async ask(commands: readonly (readonly string[])[], asked: Asked): Promise<readonly Answer[]> {
    const mark = randomUUID()
    const texts = commands.map((command) => `${commandText(command)}; echo ${mark}; echo --err ${mark}; `)
    const answers: Answer[] = []
    for (const { text, count } of joined(texts)) {
      const { stdout, stderr, code } = await this.virsh([text], asked)
      const outputs = stdout.toString().split(mark)
      const errors = stderr.split(`error: ${mark}\n`)
      if (stdout.length === 0 && stderr === '')
        throw unreachable(`Cannot ${asked.action} on ${this.uri}: virsh ended with ${code} and printed nothing`)
      if (isLost(stderr) || errors.length <= count) throw virshError(asked.action, this.uri, stderr)
      for (let index = 0; index < count; index++) answers.push(answer(outputs[index], errors[index]))
    }
    return answers
  }

  /** As ask(), for a command that may hold secrets: ASCII without control characters. */
  askInSecret(command: readonly string[], asked: Asked): Promise<Answer> {
    return withTemporaryDirectory(tmpdir(), async (directory) => {
      // It saves its history there when it ends, and is to have none.
      const env = { XDG_CACHE_HOME: directory, VIRSH_HISTSIZE: '0', INPUTRC: '/dev/null', TERM: 'dumb' }
      // It prints what it reads as well: there the mark stands in two parts.
      const [mark, rest] = [randomUUID(), randomUUID()]
      const around = `echo '${mark}''${rest}'`
      const input = Buffer.from(`${around}; ${commandText(command)}; ${around}\n`)
      const { stdout, stderr, code } = await this.virsh([], asked, { env, input })
      if (isLost(stderr) || code !== 0) throw virshError(asked.action, this.uri, stderr)
      return answer(stdout.toString().split(`${mark}${rest}`)[1], stderr)
    })
  }

  /** What one command prints. */
  async tell(command: readonly string[], asked: Asked): Promise<string> {
    const [answered] = await this.ask([command], asked)
    return this.outputOf(answered, asked.action)
  }

  outputOf(answered: Answer, action: string): string {
    if ('failure' in answered) throw virshError(action, this.uri, answered.failure)
    return answered.output
  }

  /** One virsh, to its end. Rejects when there is no end, or no virsh; what it says is the caller's to judge. */
  async virsh(words: readonly string[], asked: Asked, fed: Fed = {}): Promise<Captured> {
    const captured = await this.run(['virsh', '-q', '-c', this.uri, ...words], asked.timeoutMs, fed)
    const { code, reason, isMissing } = captured
    if (code !== undefined) return captured
    if (isMissing)
      throw new HoldfastError(
        'VirshMissing',
        `Cannot ${asked.action} on ${this.uri}: the program virsh is not installed`,
        {
          hint: 'apt-get install libvirt-clients',
        },
      )
    throw unreachable(`Cannot ${asked.action} on ${this.uri}: no answer (virsh: ${reason})`)
  }

  /** A program where virsh runs, however it ends. Rejects when it was stopped by the signal. */
  async run(command: readonly string[], timeoutMs: number, { env = {}, input }: Fed = {}): Promise<Captured> {
    if (this.isOfContainers && !isLocalUri(this.uri)) throw remoteContainers(this.uri)
    const { signal, prefix = [] } = this.#options
    const captured = await this.#turns.take(() =>
      capture([...prefix, ...command], {
        timeoutMs,
        signal,
        env: { ...this.#options.env, LC_ALL: 'C', ...env },
        ...(input === undefined ? {} : { input }),
      }),
    )
    signal.throwIfAborted()
    return captured
  }
}

export function isLocalUri(uri: string): boolean {
  return /^[^/]*:\/\/\//u.test(uri)
}

/** Their root directories, and the way into them, are on the host itself. */
function remoteContainers(uri: string): HoldfastError {
  return new HoldfastError(
    'HypervisorRemote',
    `Cannot use ${uri}: containers of another host cannot be entered from here; expected "lxc:///system"`,
    { hint: 'run Holdfast on that host, or use virtual machines ("qemu+ssh://HOST/system")' },
  )
}

/** A file that only we can read, for as long as it is used. */
export function withFile<T>(text: string, use: (file: string) => Promise<T>): Promise<T> {
  return withTemporaryDirectory(tmpdir(), async (directory) => {
    const file = join(directory, 'text')
    await writeFile(file, text, { mode: 0o600 })
    return use(file)
  })
}

/** virsh has words like a shell's, and nothing in single quotes means anything to it. */
function commandText(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
}

function answer(output: string, errors: string): Answer {
  return /^error:/mu.test(errors) ? { failure: errors } : { output }
}

function joined(texts: readonly string[]): readonly { readonly text: string; readonly count: number }[] {
  const all: { text: string; count: number }[] = []
  for (const text of texts) {
    const last = all.at(-1)
    if (last === undefined || last.text.length + text.length > LONGEST_ARGUMENT) all.push({ text, count: 1 })
    else {
      last.text += text
      last.count++
    }
  }
  return all
}
