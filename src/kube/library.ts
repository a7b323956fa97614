// What is left to the Kubernetes library as a whole: proxies, and the clouds' own ways to log in (auth-provider). Loading it
// takes 90 MB and a third of a second, so it is loaded only for these.

import type { Agent, RequestOptions } from 'node:https'
import { HoldfastError, messageOf } from '../lib/errors.ts'
import type { Given } from './credential-program.ts'
import type { Site } from './site.ts'

export interface GivenByLibrary extends Given {
  agent: Agent
}

export function libraryOf(site: Site): () => Promise<GivenByLibrary> {
  let loading: Promise<(options: RequestOptions) => Promise<void>> | undefined
  return async () => {
    const given: Partial<GivenByLibrary> = {}
    try {
      loading ??= load(site)
      const apply = await loading
      await apply(given)
    } catch (error) {
      const text = `Cannot get credentials for "${site.server}": ${messageOf(error).split('\n', 1)[0]}`
      throw new HoldfastError('KubeCredentials', text, { cause: error, retryable: true })
    }
    return given as GivenByLibrary
  }
}

async function load({ server, trust, proxyUrl, identity }: Site): Promise<(options: RequestOptions) => Promise<void>> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const { ca, insecure, serverName } = trust
  const { exec, authProvider, cert, key } = identity
  const config = new KubeConfig()
  config.loadFromClusterAndUser(
    {
      name: 'cluster',
      server,
      // Without TLS it wants it said that nobody is verified.
      skipTLSVerify: insecure || server.startsWith('http:'),
      ...(ca !== undefined && { caData: ca.toString('base64') }),
      ...(serverName !== undefined && { tlsServerName: serverName }),
      ...(proxyUrl !== undefined && { proxyUrl }),
    },
    {
      name: 'user',
      exec,
      authProvider,
      ...(cert !== undefined && { certData: cert.toString('base64') }),
      ...(key !== undefined && { keyData: key.toString('base64') }),
    },
  )
  return (options) => config.applyToHTTPSOptions(options)
}
