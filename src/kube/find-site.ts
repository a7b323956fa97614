// Which cluster is meant, in the order of kubectl: the kubeconfig that is named, those in KUBECONFIG, the one in the home
// directory, the pod that we run in.

import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { HoldfastError } from '../lib/errors.ts'
import type { KubeOptions } from './connection.ts'
import { readKubeconfig } from './kubeconfig.ts'
import { isInPod, readServiceAccount } from './service-account.ts'
import type { Environment, Site } from './site.ts'

export async function findSite(options: KubeOptions, env: Environment): Promise<Site> {
  const { server } = options
  if (server === undefined) return (await configuredSite(options, env)) ?? missing('a Kubernetes cluster')
  if (!URL.canParse(server) || !/^https?:/u.test(server))
    throw new HoldfastError(
      'KubeconfigInvalid',
      `Cannot use the API server "${server}": it is no URL; expected https://host:port`,
    )
  const site = (await configuredSite(options, env)) ?? NOBODY
  return { ...site, server: server.replace(/\/+$/u, '') }
}

async function configuredSite({ kubeconfig, context }: KubeOptions, env: Environment): Promise<Site | undefined> {
  const files = kubeconfig === undefined ? defaultFiles(env) : [kubeconfig]
  if (files.length > 0) return readKubeconfig(files, context)
  if (context !== undefined) return missing(`context "${context}"`)
  return isInPod(env) ? readServiceAccount(env) : undefined
}

function defaultFiles({ KUBECONFIG, HOME }: Environment): string[] {
  const listed = (KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '')
  if (listed.length > 0 || HOME === undefined) return listed
  const usual = join(HOME, '.kube', 'config')
  return existsSync(usual) ? [usual] : []
}

function missing(sought: string): never {
  const text = `Cannot find ${sought}: KUBECONFIG is not set, "~/.kube/config" is not there, and this is no pod with a service account; expected a kubeconfig`
  throw new HoldfastError('KubeconfigMissing', text)
}

/** For an API server that is named without a kubeconfig. */
const NOBODY: Site = {
  origin: 'nobody',
  server: '',
  namespace: undefined,
  trust: { ca: undefined, insecure: false, serverName: undefined },
  proxyUrl: undefined,
  identity: {},
}
