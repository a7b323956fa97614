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

export function programOf(exec: CredentialProgram): () => Promise<Given> {
  let runner: ExecAuth | undefined
  return async () => {
    // This file of the library costs next to nothing; all of it would cost 90 MB.
    const library = await import('@kubernetes/client-node/dist/exec_auth.js')
    runner ??= new library.ExecAuth()
    const given: Given = {}
    try {
      await runner.applyAuthentication({ name: 'user', exec }, given)
    } catch (error) {
      throw programFailed(exec, error)
    }
    return given
  }
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
    return 'it did not print an ExecCredential; JSON with a status is wanted'
  if (code !== undefined) return `it cannot be run (${reasonOf(error)})`
  const words = messageOf(error).trim().split('\n').at(-1) ?? ''
  return words === '' ? 'it failed without a word' : `it failed with "${words.slice(0, LONGEST_REASON)}"`
}
