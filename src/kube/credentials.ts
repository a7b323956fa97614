// What a request carries so that the API server knows who asks.

import type { Agent } from 'node:https'
import { readFile } from 'node:fs/promises'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import { type Given, programOf } from './credential-program.ts'
import { type GivenByLibrary, libraryOf } from './library.ts'
import type { Identity, Site } from './site.ts'

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>
  readonly cert: string | Buffer | undefined
  readonly key: string | Buffer | undefined
  /** Given where connections cannot be made in the usual way. */
  readonly agent: Agent | undefined
}

export type CredentialSource = () => Promise<Credentials>

/** The signal ends what is being done to get them. */
export function credentialsOf(site: Site, signal: AbortSignal): CredentialSource {
  const { identity } = site
  const giver = giverOf(site, signal)
  return async () => {
    const { headers = {}, cert, key, agent } = await giver()
    const { Authorization: authorization = await authorizationOf(identity) } = headers
    return {
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...(identity.impersonate !== undefined && { 'impersonate-user': identity.impersonate }),
      },
      cert: cert ?? identity.cert,
      key: key ?? identity.key,
      agent: site.proxyUrl === undefined ? undefined : agent,
    }
  }
}

function giverOf(site: Site, signal: AbortSignal): () => Promise<Given & Partial<GivenByLibrary>> {
  const { exec, authProvider } = site.identity
  if (site.proxyUrl !== undefined || authProvider !== undefined) return libraryOf(site)
  return exec === undefined ? () => Promise.resolve({}) : programOf(exec, signal)
}

async function authorizationOf({ token, tokenFile, basic }: Identity): Promise<string | undefined> {
  if (tokenFile !== undefined) return `Bearer ${await readToken(tokenFile)}`
  if (token !== undefined) return `Bearer ${token}`
  if (basic === undefined) return undefined
  return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`
}

async function readToken(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    const text = `Cannot read the token "${file}": ${reasonOf(error)}; expected a file with a bearer token`
    throw new HoldfastError('KubeCredentials', text, { cause: error, retryable: true })
  }
}
