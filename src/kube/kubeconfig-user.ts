// Who a user of a kubeconfig is: certificates, tokens, and the program that gives credentials, which is told of the cluster
// as kubectl tells it (KUBERNETES_EXEC_INFO).

import type { Entry } from './kubeconfig-entry.ts'
import type { CredentialProgram, Identity, Site } from './site.ts'

type Cluster = Pick<Site, 'server' | 'trust'>

export async function readIdentity(user: Entry, cluster: Cluster): Promise<Identity> {
  const cert = await user.pem('client-certificate')
  const key = await user.pem('client-key')
  if ((cert === undefined) !== (key === undefined))
    throw user.invalid('it has a client certificate or a client key alone; expected both')
  const token = user.text('token')
  const tokenFile = user.path('tokenFile')
  const username = user.text('username')
  const impersonate = user.text('as')
  const exec = readExec(user, cluster)
  const authProvider = user.map('auth-provider')
  return {
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(token !== undefined && { token }),
    ...(tokenFile !== undefined && { tokenFile }),
    ...(username !== undefined && { basic: { username, password: user.text('password') ?? '' } }),
    ...(impersonate !== undefined && { impersonate }),
    ...(exec !== undefined && { exec }),
    ...(authProvider !== undefined && { authProvider }),
  }
}

function readExec(user: Entry, cluster: Cluster): CredentialProgram | undefined {
  const exec = user.map('exec')
  if (exec === undefined) return undefined
  const { command, args, apiVersion, provideClusterInfo, installHint, env: own } = exec
  if (typeof command !== 'string' || command === '') throw user.invalid('its exec has no command; expected one')
  const info = {
    apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(provideClusterInfo === true && { cluster: clusterInfo(cluster) }) },
  }
  return {
    // A name alone is looked for in PATH.
    command: command.includes('/') ? user.absolute(command) : command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: [
      ...(Array.isArray(own) ? (own as CredentialProgram['env']) : []),
      { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) },
    ],
    installHint: typeof installHint === 'string' ? installHint.trim() : undefined,
  }
}

function clusterInfo({ server, trust }: Cluster): unknown {
  return {
    server,
    ...(trust.serverName !== undefined && { 'tls-server-name': trust.serverName }),
    ...(trust.insecure && { 'insecure-skip-tls-verify': true }),
    ...(trust.ca !== undefined && { 'certificate-authority-data': trust.ca.toString('base64') }),
  }
}
