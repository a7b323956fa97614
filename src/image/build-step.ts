// One program of a build. All that it prints goes to the log of the build; an error tells the line that matters and where
// the rest is.

import { appendFileSync } from 'node:fs'
import { basename } from 'node:path'
import { HoldfastError } from '../lib/errors.ts'
import { capture, exec } from '../lib/exec.ts'
import { SYSTEM_PATH } from '../targets/local/apt.ts'
import { EPOCH_SECONDS } from './recipe.ts'

export interface Build {
  /** Removed in the end, whatever the end is. */
  readonly directory: string
  readonly log: string
  /** Beside what programs need themselves; proxies, for instance. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly onProgress: (step: string) => void
}

const TIMEOUT_MS = 60 * 60_000
/** However we end. */
const ENDS_WITH_US = ['setpriv', '--pdeathsig', 'KILL'] as const
const FAULT = /^(?:E: |error:|[\w.-]+: )(?!warning)/iu

interface StepOptions {
  readonly onLine?: (line: string) => void
  /** The words of programs that start this one. */
  readonly within?: readonly string[]
}

export async function runStep(
  build: Build,
  command: readonly string[],
  { onLine, within = [] }: StepOptions = {},
): Promise<void> {
  const lines: string[] = []
  appendFileSync(build.log, `# ${command.join(' ')}\n`)
  const { reason } = await exec([...ENDS_WITH_US, ...within, ...command], {
    timeoutMs: TIMEOUT_MS,
    signal: build.signal,
    env: stepEnv(build),
    onLine: (line) => {
      lines.push(line)
      appendFileSync(build.log, `${line}\n`)
      onLine?.(line)
    },
  })
  if (reason !== undefined) throw stepFailed(build, command, lines, reason)
}

/** What it prints. */
export async function readStep(build: Build, command: readonly string[], input = ''): Promise<string> {
  const { reason, stdout, stderr } = await capture(command, {
    timeoutMs: TIMEOUT_MS,
    signal: build.signal,
    env: stepEnv(build),
    input: Buffer.from(input),
  })
  appendFileSync(build.log, `# ${command.join(' ')}\n${stdout.toString()}${stderr}`)
  if (reason !== undefined) throw stepFailed(build, command, stderr.split('\n'), reason)
  return stdout.toString()
}

function stepEnv({ env, directory }: Build): Build['env'] {
  return {
    ...env,
    PATH: SYSTEM_PATH,
    LC_ALL: 'C.UTF-8',
    TMPDIR: directory,
    DEBIAN_FRONTEND: 'noninteractive',
    SOURCE_DATE_EPOCH: String(EPOCH_SECONDS),
    E2FSPROGS_FAKE_TIME: String(EPOCH_SECONDS),
  }
}

function stepFailed(
  { log, signal }: Build,
  command: readonly string[],
  lines: readonly string[],
  reason: string,
): HoldfastError {
  if (signal.aborted) return new HoldfastError('Interrupted', 'Cannot build the image: it was stopped')
  const said = lines.find((line) => FAULT.test(line)) ?? lines.findLast((line) => line.trim() !== '')
  const what = said === undefined ? reason : `${said.replace(/^E: /u, '').trim()} (${reason})`
  return new HoldfastError('ImageBuildFailed', `Cannot build the image: ${basename(command[0])}: ${what}`, {
    hint: `all that was printed is in ${log}`,
  })
}
