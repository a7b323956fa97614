// The cluster that a pod runs in, and the service account that it runs as.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import type { Environment, Site } from './site.ts'

const DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount'

export function isInPod(env: Environment, directory = DIRECTORY): boolean {
  return (env.KUBERNETES_SERVICE_HOST ?? '') !== '' && existsSync(join(directory, 'token'))
}

export async function readServiceAccount(env: Environment, directory = DIRECTORY): Promise<Site> {
  const host = env.KUBERNETES_SERVICE_HOST ?? ''
  const port = env.KUBERNETES_SERVICE_PORT ?? '443'
  const [ca, namespace] = await Promise.all([readMounted(directory, 'ca.crt'), readMounted(directory, 'namespace')])
  return {
    origin: `the service account in "${directory}"`,
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    namespace: namespace.toString().trim(),
    trust: { ca, insecure: false, serverName: undefined },
    proxyUrl: undefined,
    identity: { tokenFile: join(directory, 'token') },
  }
}

async function readMounted(directory: string, name: string): Promise<Buffer> {
  try {
    return await readFile(join(directory, name))
  } catch (error) {
    const reason = `"${name}" cannot be read (${reasonOf(error)})`
    const text = `Cannot use the service account in "${directory}": ${reason}; it has to be mounted whole`
    throw new HoldfastError('KubeCredentials', text, { cause: error })
  }
}
