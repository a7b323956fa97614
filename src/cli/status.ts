// `holdfast status`: the status of a stack; or, asked for one of its name servers or any other, the states of the sources
// of that server and what it serves.

import { HoldfastError, reasonOf as systemReasonOf } from '../lib/errors.ts'
import { reachProblem } from '../lib/reach-problem.ts'
import type { HttpAddress } from '../server/config.ts'
import { hasColour } from './colour.ts'
import { command, type Io } from './command.ts'
import { EXIT } from './exit-code.ts'
import { configOf } from './dns-config.ts'
import { widthOf } from './live-area.ts'
import { watchStatus } from './live-status.ts'
import type { ServerStatus } from './server-status.ts'
import { hasStack, openStack, type StackChoice, stackOptions } from './stack-choice.ts'
import { formatStackStatus } from './stack-status-table.ts'
import { formatStatus, isWell } from './status-table.ts'

const DEFAULT_URL = 'http://127.0.0.1:8080'
const TIMEOUT_MS = 5000

export const statusCommand = command({
  name: 'status',
  summary: 'Show the status of a stack, or of a running name server',
  usage: '[FILE] [--watch] [--json] | --url URL | --config names.yaml | -conf Corefile',
  positionals: ['[FILE]'],
  options: {
    ...stackOptions,
    watch: { summary: 'keep showing it, as it changes' },
    url: { value: 'URL', summary: `a name server: the address of its "health" (default: ${DEFAULT_URL})` },
    config: { value: 'FILE', summary: 'a name server: find that in its names.yaml' },
    conf: { value: 'FILE', summary: 'a name server: find that in its Corefile' },
    json: { summary: 'print it as JSON' },
  },
  async run(args, io) {
    const { url, config, conf, state } = args.options
    const isServer = url !== undefined || config !== undefined || conf !== undefined
    if (isServer && args.positionals.length > 0)
      throw new HoldfastError('Usage', 'Cannot show a stack and a name server: expected one of them')
    return isServer || !hasStack(args.positionals[0], state, io)
      ? serverStatus(args.options, io)
      : stackStatus(args, io)
  },
})

async function stackStatus(
  args: StackChoice & { options: { watch: boolean; json: boolean } },
  io: Io,
): Promise<number> {
  const { watch, json } = args.options
  const operator = await openStack(args, io)
  const signal = io.stopSignal()
  if (watch && !json) {
    await watchStatus(operator, io, signal)
    return EXIT.done
  }
  const status = await operator.status(signal)
  const options = { colour: hasColour(io, io.stdout), now: Date.now(), width: widthOf(io.stdout) }
  io.stdout.write(json ? `${JSON.stringify(status, undefined, 2)}\n` : formatStackStatus(status, options))
  return status.isReady ? EXIT.done : EXIT.failed
}

async function serverStatus(options: Where & { readonly json: boolean }, io: Io): Promise<number> {
  const isGuess = options.url === undefined && options.config === undefined && options.conf === undefined
  const status = await ask(statusUrl(options, io), { isGuess, signal: io.stopSignal() })
  io.stdout.write(
    options.json ? `${JSON.stringify(status, undefined, 2)}\n` : formatStatus(status, Date.now(), widthOf(io.stdout)),
  )
  return isWell(status) ? EXIT.done : EXIT.failed
}

interface Where {
  readonly url: string | undefined
  readonly config: string | undefined
  readonly conf: string | undefined
}

function statusUrl({ url, config, conf }: Where, io: Io): URL {
  const file = config ?? conf
  if (url !== undefined && file !== undefined)
    throw new HoldfastError(
      'Usage',
      'Cannot use --url with --config or -conf: each says where the server is; expected one of them',
    )
  return parseUrl(file === undefined ? (url ?? DEFAULT_URL) : healthOf(file, { config, conf }, io))
}

function healthOf(file: string, chosen: Pick<Where, 'config' | 'conf'>, io: Io): string {
  const none = {
    zones: [],
    listen: [],
    'dns.port': undefined,
    health: undefined,
    ready: undefined,
    metrics: undefined,
    state: undefined,
  }
  const { blocks } = configOf({ ...none, ...chosen }, io).load().config
  const address = blocks.find(({ health }) => health !== undefined)?.health
  if (address !== undefined) return `http://${reachable(address)}`
  throw new HoldfastError(
    'NoStatus',
    `Cannot ask the server of "${file}": it has no "health", next to which it would report; add one`,
  )
}

/** Every address is also this host's own. */
function reachable({ host, port }: HttpAddress): string {
  if (host === '' || host === '0.0.0.0') return `127.0.0.1:${port}`
  if (host === '::') return `[::1]:${port}`
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function parseUrl(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url === null || !/^https?:$/u.test(url.protocol))
    throw new HoldfastError('Usage', `Cannot ask "${text}": not a URL; expected one such as ${DEFAULT_URL}`)
  if (url.pathname === '/') url.pathname = '/status'
  return url
}

interface Question {
  /** Nothing was named, and no stack was found. */
  readonly isGuess: boolean
  readonly signal: AbortSignal
}

async function ask(url: URL, { isGuess, signal }: Question): Promise<ServerStatus> {
  const expected = 'give the address of its "health" with --url'
  let text: string
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) })
    text = response.ok ? await response.text() : `HTTP status ${response.status}`
  } catch (thrown) {
    throw new HoldfastError(
      'ServerUnreachable',
      `Cannot reach the server at ${url.href}: ${reasonOf(thrown)}; start it, or ${expected}`,
      { cause: thrown, ...(isGuess && { hint: 'no stack was found either; "holdfast status FILE" shows one' }) },
    )
  }
  const status = parseStatus(text)
  if (status !== undefined) return status
  const [line] = text.split('\n')
  throw new HoldfastError(
    'NoStatus',
    `Cannot use the answer of ${url.href}: ${JSON.stringify(line.slice(0, 80))} is not the status of a name server; ${expected}`,
  )
}

function parseStatus(text: string): ServerStatus | undefined {
  try {
    const value = JSON.parse(text) as Partial<ServerStatus> | null
    return Array.isArray(value?.sources) && Array.isArray(value.zones) ? (value as ServerStatus) : undefined
  } catch {
    return undefined
  }
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof Error && thrown.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`
  return (
    reachProblem(thrown) ??
    systemReasonOf(thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown)
  )
}
