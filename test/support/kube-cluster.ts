// A real Kubernetes API for tests: kube-apiserver on an etcd of its own, with TLS and RBAC. The API server is killed,
// paused and restarted by process id; all of it ends with the process that started it.
// There are no controllers, no scheduler and no nodes. So nothing sets a status but the test (`setStatus`), pods never run,
// Endpoints and EndpointSlices are not made for Services, a deleted namespace stays Terminating with everything in it,
// owned objects are not collected, and namespaces get no default service account. Tokens of service accounts are made by
// the API server itself, on request (`serviceAccount`).

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EtcdCluster } from './etcd-cluster.ts'
import { KubeCredentials } from './kube-credentials.ts'
import { requestJson } from './kube-request.ts'
import { findKubernetes, type KubernetesPrograms } from './kubernetes-programs.ts'
import { loopbackNetwork } from './loopback.ts'
import { freePort } from './ports.ts'
import { standStill } from './stand-still.ts'
import { until } from './until.ts'

const run = promisify(execFile)

const START_TIMEOUT_MS = 150_000
const TOKEN_SECONDS = 3600

export interface KubeClusterOptions {
  /** A loopback address; one of its own unless given. */
  readonly host?: string
  /** More flags for the API server, as `--name=value`. */
  readonly flags?: readonly string[]
  /** As GOMEMLIMIT, for the API server; 512MiB unless given. */
  readonly memory?: string
}

/** As in a Role. */
export interface PolicyRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

/** Families of custom resource definitions. Of Gateway API's two channels `gateway` is the wider one. */
export type Definitions = 'kubevirt' | 'gateway' | 'gateway-standard' | 'dnsendpoint'

/** What addresses one object: `ingresses`, `gateways.gateway.networking.k8s.io`; no namespace for objects of the cluster. */
export interface ObjectAddress {
  readonly resource: string
  readonly name: string
  readonly namespace?: string
}

export class KubeCluster {
  readonly directory: string
  /** The API server's own, below /registry; tests may keep other keys in it. */
  readonly etcd: EtcdCluster
  /** URL of the API. */
  readonly server: string
  /** Path of the kubeconfig file of a user who may do everything. */
  readonly kubeconfig: string
  readonly #programs: KubernetesPrograms
  readonly #credentials: KubeCredentials
  readonly #agent: Agent
  readonly #args: readonly string[]
  readonly #memory: string
  #process: ChildProcess | undefined

  /** The API server is ready. */
  static async start(options: KubeClusterOptions = {}): Promise<KubeCluster> {
    const programs = findKubernetes()
    if (programs === undefined) throw new Error('Kubernetes is not built here; see scripts/build-kubernetes.sh')
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-kube-'))
    const etcd = await EtcdCluster.start({ members: 1 })
    const cluster = new KubeCluster(await prepare(directory, etcd, programs, options))
    try {
      await cluster.restart()
    } catch (error) {
      await cluster.stop()
      throw error
    }
    return cluster
  }

  private constructor(prepared: Prepared) {
    this.directory = prepared.directory
    this.etcd = prepared.etcd
    this.server = prepared.server
    this.kubeconfig = prepared.kubeconfig
    this.#programs = prepared.programs
    this.#credentials = prepared.credentials
    this.#agent = prepared.agent
    this.#args = prepared.args
    this.#memory = prepared.memory
  }

  get caFile(): string {
    return this.#credentials.caFile
  }

  /** The content of `kubeconfig` with the certificates in it, for where our files cannot be seen. */
  portableKubeconfig(): string {
    return this.#credentials.portable(this.kubeconfig)
  }

  /** Standard output of kubectl, which gets `input` on its standard input. */
  async kubectl(args: readonly string[], input?: string): Promise<string> {
    const env = { PATH: process.env.PATH, KUBECONFIG: this.kubeconfig, KUBECACHEDIR: join(this.directory, 'kubectl') }
    const running = run(this.#programs.kubectl, args, { env, maxBuffer: 1 << 28 })
    running.child.stdin?.on('error', () => undefined).end(input)
    return (await running).stdout
  }

  /** Creates or changes the objects of a YAML or JSON text. Status is not part of it: see `setStatus`. */
  async apply(manifest: string): Promise<void> {
    await this.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], manifest)
  }

  /** Objects of these kinds can be created afterwards. */
  async applyCrds(...families: readonly Definitions[]): Promise<void> {
    const files = families.flatMap((family) => ['-f', this.#definitions(family)])
    await this.kubectl(['apply', '--server-side', ...files])
    await this.kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...files])
  }

  /** Merges into the status, as a controller would. */
  async setStatus({ resource, name, namespace }: ObjectAddress, status: object): Promise<void> {
    const where = namespace === undefined ? [] : ['-n', namespace]
    const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]
    await this.kubectl(['patch', resource, name, ...where, ...patch])
  }

  /**
   * One request as the user who may do everything, without the cost of a kubectl: for many objects, or what kubectl cannot say.
   * Fails with the API's own message for any answer but 2xx.
   */
  request<Answer>(method: string, path: string, body?: object, contentType?: string): Promise<Answer> {
    return requestJson<Answer>(this.#agent, new URL(path, this.server), method, body, contentType)
  }

  /** A user with a certificate and no rights but those that bindings give; returns the path of a kubeconfig file. */
  async user(name: string, group?: string): Promise<string> {
    return this.#credentials.kubeconfig(name, this.server, await this.#credentials.client(name, group))
  }

  /**
   * A service account in an existing namespace, with these rules in the whole cluster; returns the path of a kubeconfig
   * file with a token. Without rules it has what bindings that name it give.
   */
  async serviceAccount(namespace: string, name: string, rules?: readonly PolicyRule[]): Promise<string> {
    await this.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: accountObjects(namespace, name, rules) }))
    const { status } = await this.request<{ status: { token: string } }>(
      'POST',
      `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: TOKEN_SECONDS } },
    )
    return this.#credentials.kubeconfig(`${namespace}-${name}`, this.server, { token: status.token }, namespace)
  }

  /** SIGKILL for the API server; resolves when it is gone. */
  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  /** The API server ends as it does for an upgrade: watches are closed first. */
  terminate(): Promise<void> {
    return this.#end('SIGTERM')
  }

  /** The API server stands still: connections stay, nothing is answered. */
  pause(): void {
    standStill(this.#process)
  }

  resume(): void {
    this.#process?.kill('SIGCONT')
  }

  /** Starts the API server again, at the same address and with its data, and waits until it is ready. */
  async restart(): Promise<void> {
    await this.kill()
    const log = openSync(this.#logFile, 'a')
    // A test that is killed cannot stop the API server: the kernel does.
    const args = ['--pdeathsig', 'KILL', this.#programs.apiServer, ...this.#args]
    const env = { PATH: process.env.PATH, GOMEMLIMIT: this.#memory }
    this.#process = spawn('setpriv', args, { stdio: ['ignore', log, log], env, cwd: this.directory })
    closeSync(log)
    await this.#ready(this.#process)
  }

  /** Ends everything and removes the files. */
  async stop(): Promise<void> {
    this.#agent.destroy()
    await this.kill()
    await this.etcd.stop()
    rmSync(this.directory, { recursive: true, force: true })
  }

  get #logFile(): string {
    return join(this.directory, 'kube-apiserver.log')
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }

  async #ready(child: ChildProcess): Promise<void> {
    let reason = ''
    const isReady = async () => {
      if (child.exitCode !== null) throw new Error('kube-apiserver ended')
      try {
        await this.request('GET', '/readyz')
        return true
      } catch (error) {
        reason = String(error)
        return false
      }
    }
    await until('ready API server', isReady, START_TIMEOUT_MS).catch((cause: unknown) => {
      throw new Error(`${String(cause)}\n${reason}\n${readFileSync(this.#logFile, 'utf8').slice(-4000)}`)
    })
  }

  #definitions(family: Definitions): string {
    if (family === 'kubevirt') return join(import.meta.dirname, 'crds/virtualmachineinstances.yaml')
    return join(this.#programs.definitions, family === 'gateway' ? 'gateway-experimental' : family)
  }
}

interface Prepared extends Pick<KubeCluster, 'directory' | 'etcd' | 'server' | 'kubeconfig'> {
  readonly programs: KubernetesPrograms
  readonly credentials: KubeCredentials
  readonly agent: Agent
  readonly args: readonly string[]
  readonly memory: string
}

async function prepare(
  directory: string,
  etcd: EtcdCluster,
  programs: KubernetesPrograms,
  { host = `${loopbackNetwork()}.0.1`, flags = [], memory = '512MiB' }: KubeClusterOptions,
): Promise<Prepared> {
  const credentials = await KubeCredentials.create(directory)
  const own = await credentials.server(host)
  const admin = await credentials.client('admin', 'system:masters')
  const signingKey = credentials.signingKey()
  const port = await freePort()
  const server = `https://${host}:${port}`
  const args = [
    `--etcd-servers=${etcd.endpoints.join(',')}`,
    `--bind-address=${host}`,
    `--advertise-address=${host}`,
    `--secure-port=${port}`,
    `--cert-dir=${directory}`,
    `--tls-cert-file=${own.certFile}`,
    `--tls-private-key-file=${own.keyFile}`,
    `--client-ca-file=${credentials.caFile}`,
    `--service-account-key-file=${signingKey}`,
    `--service-account-signing-key-file=${signingKey}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=RBAC',
    // It would want a service account in every namespace, which only a controller makes.
    '--disable-admission-plugins=ServiceAccount',
    '--endpoint-reconciler-type=none',
    '--profiling=false',
    ...flags,
  ]
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 16,
    ca: readFileSync(credentials.caFile),
    cert: readFileSync(admin.certFile),
    key: readFileSync(admin.keyFile),
  })
  const kubeconfig = credentials.kubeconfig('admin', server, admin)
  return { directory, etcd, server, kubeconfig, programs, credentials, agent, args, memory }
}

function accountObjects(namespace: string, name: string, rules: readonly PolicyRule[] | undefined): object[] {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } }
  if (rules === undefined) return [account]
  const metadata = { name: `${namespace}-${name}` }
  const group = 'rbac.authorization.k8s.io'
  return [
    account,
    { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata, rules },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ]
}
