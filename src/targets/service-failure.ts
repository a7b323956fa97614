// How a service failed, as fields; and the line of its log that says why, where there is one.

export interface ServiceFailure {
  /** Unix milliseconds. */
  readonly at: number
  /**
   * `exited`: by itself, with `exitCode`. `killed`: by `signal`. `unstartable`: it could not be started. `unwatched`: it
   * ended while no supervisor ran, so nothing more is known. `failed`: systemd says so, and no more.
   */
  readonly kind: 'exited' | 'killed' | 'unstartable' | 'unwatched' | 'failed'
  readonly exitCode?: number
  /** `SIGKILL` */
  readonly signal?: string
  /** The system's reason, or what the service logged about it. */
  readonly detail?: string
}

const LONGEST_DETAIL = 300
/** Nothing that a process logs explains that it was killed from outside. */
const FROM_OUTSIDE: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGSTOP'])
const LEVEL = /"level":"(\w+)"|(?:^|[\s[(|])(TRACE|DEBUG|INFO|NOTICE|LOG|HINT|DETAIL|CONTEXT|STATEMENT|WARN(?:ING)?)\b/u
const HARMLESS = /^(?:trace|debug|info|notice|log|hint|detail|context|statement|warn(?:ing)?)$/iu
const ERROR = /\b(?:fatal|panic|critical|alert|emerg|error|failed|cannot)\b|\w(?:Error|Exception)\b/iu

/** `exit code 1: FATAL: …`, `killed by SIGKILL` */
export function describeFailure({ kind, exitCode, signal, detail }: Omit<ServiceFailure, 'at'>): string {
  const what = {
    exited: `exit code ${exitCode}`,
    killed: `killed by ${signal}`,
    unstartable: 'cannot be started',
    unwatched: 'exited while the supervisor was down',
    failed: 'failed',
  }[kind]
  return detail === undefined ? what : `${what}: ${detail}`
}

/**
 * The line that gives the reason, of the last lines that the service logged in that run. A process that exits by itself
 * says why in its last line, unless that line is harmless; in other cases only a line that is an error counts.
 */
export function findDetail(
  lines: readonly string[],
  { kind, exitCode, signal }: Omit<ServiceFailure, 'at' | 'detail'>,
): string | undefined {
  if (kind === 'killed' && FROM_OUTSIDE.has(signal ?? '')) return undefined
  const texts = lines.map(cleaned).filter((line) => line !== '')
  const last = texts.at(-1)
  const isOwnWord = kind === 'exited' && exitCode !== 0 && last !== undefined && !isHarmless(last)
  const line = isOwnWord ? last : texts.findLast((text) => !isHarmless(text) && ERROR.test(text))
  if (line === undefined) return undefined
  const text = messageIn(line)
  return text.length <= LONGEST_DETAIL ? text : `${text.slice(0, LONGEST_DETAIL)}…`
}

function isHarmless(line: string): boolean {
  const match = LEVEL.exec(line)
  return match !== null && HARMLESS.test(match[1] ?? match[2])
}

function cleaned(line: string): string {
  return line.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/gu, ' ').trim()
}

/** etcd logs JSON. */
function messageIn(line: string): string {
  if (!line.startsWith('{')) return line
  try {
    const { msg, error } = JSON.parse(line) as { readonly msg?: unknown; readonly error?: unknown }
    const parts = [msg, error].filter((part) => typeof part === 'string' && part !== '')
    return parts.length === 0 ? line : parts.join(': ')
  } catch {
    return line
  }
}
