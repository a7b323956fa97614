// Credentials from a program that a kubeconfig names (exec). The library runs it and remembers what it gave until that
// expires; nothing that it prints where a token would stand gets into an error.

import type { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js'
import { HoldfastError, messageOf, reasonOf } from '../lib/errors.ts'
import type { CredentialProgram } from './site.ts'

/** As the library fills in what is given. */
export interface Given {
  headers?: Record<string, string>
  cert?: string
  key?: string
}

const LONGEST_REASON = 200

/** How long it may take; the signal ends it earlier. */
const PATIENCE_MS = 30_000

export function programOf(exec: CredentialProgram, signal: AbortSignal): () => Promise<Given> {
  let runner: ExecAuth | undefined
  return async () => {
    // This file of the library costs next to nothing; all of it would cost 90 MB.
    const library = await import('@kubernetes/client-node/dist/exec_auth.js')
    runner ??= endingProgram(new library.ExecAuth(), signal)
    const given: Given = {}
    try {
      await runner.applyAuthentication({ name: 'user', exec }, given)
    } catch (error) {
      throw programFailed(exec, error)
    }
    return given
  }
}

/** What the library starts, as far as it matters here. */
interface Started {
  readonly stdout: { destroy(): unknown } | null
  readonly stderr: { destroy(): unknown } | null
  once(event: 'exit', listener: (code: number | null, killedBy: string | null) => void): unknown
}

type Start = (command: string, args: readonly string[], options: object) => Started

/** The library would wait for a program that hangs without end, and so would whoever wants to stop. */
function endingProgram(runner: ExecAuth, signal: AbortSignal): ExecAuth {
  const { execFn: start } = runner as unknown as { readonly execFn: Start }
  const execFn: Start = (command, args, options) => {
    const child = start(command, args, { ...options, signal, timeout: PATIENCE_MS, killSignal: 'SIGKILL' })
    // Others may hold its pipes, such as what a shell has started.
    child.once('exit', (_code, killedBy) => {
      if (killedBy !== null) for (const pipe of [child.stdout, child.stderr]) pipe?.destroy()
    })
    return child
  }
  return Object.assign(runner, { execFn })
}

function programFailed({ command, installHint }: CredentialProgram, error: unknown): HoldfastError {
  const hint = installHint === undefined ? {} : { hint: installHint }
  const { code } = error as NodeJS.ErrnoException
  const text =
    code === 'ENOENT'
      ? `Cannot run "${command}" for credentials: there is no such program; the kubeconfig wants it`
      : `Cannot use the credentials of "${command}": ${reasonOfProgram(error, code)}`
  return new HoldfastError('KubeCredentials', text, { ...(code === 'ENOENT' && hint), retryable: true })
}

/** Its last words, unless they are what it should have given. */
function reasonOfProgram(error: unknown, code: string | undefined): string {
  if (error instanceof SyntaxError || error instanceof TypeError)
    return 'it did not print an ExecCredential; expected JSON with a status'
  if (code !== undefined) return `it cannot be run (${reasonOf(error)})`
  const words = messageOf(error).trim().split('\n').at(-1) ?? ''
  return words === '' ? 'it failed without a word' : `it failed with "${words.slice(0, LONGEST_REASON)}"`
}
