// Real ExternalDNS beside a KubeCluster, to compare with: its coredns provider, writing to an etcd of the test's choice.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import type { KubeCluster } from './kube-cluster.ts'
import { findExternalDns } from './kubernetes-programs.ts'
import { freePort } from './ports.ts'

const run = promisify(execFile)

export interface ExternalDnsOptions {
  readonly cluster: KubeCluster
  /** Such as `--source=ingress`. */
  readonly flags: readonly string[]
  /** The API server's own etcd unless given. */
  readonly etcdUrls?: readonly string[]
  /** Beside PATH and ETCD_URLS. */
  readonly env?: Readonly<Record<string, string>>
}

export class ExternalDns {
  readonly #child: ChildProcess
  #output = ''

  private constructor(args: readonly string[], env: Readonly<Record<string, string | undefined>>) {
    // A test that is killed cannot stop it: the kernel does.
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', program(), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.#output += chunk
      })
    }
  }

  /** Runs until it is stopped. */
  static async start(options: ExternalDnsOptions): Promise<ExternalDns> {
    return new ExternalDns(await argumentsOf(options), environment(options))
  }

  /** One round; resolves with what it printed, and fails when it does. */
  static async once(options: ExternalDnsOptions): Promise<string> {
    const args = [...(await argumentsOf(options)), '--once']
    const { stdout, stderr } = await run(program(), args, { env: environment(options), maxBuffer: 1 << 28 })
    return stdout + stderr
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get output(): string {
    return this.#output
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }
}

function program(): string {
  const found = findExternalDns()
  if (found === undefined) throw new Error('ExternalDNS is not built here; see scripts/build-external-dns.sh')
  return found
}

async function argumentsOf({ cluster, flags }: ExternalDnsOptions): Promise<string[]> {
  const metrics = `--metrics-address=127.0.0.1:${await freePort()}`
  return [`--kubeconfig=${cluster.kubeconfig}`, '--provider=coredns', metrics, ...flags]
}

function environment({ cluster, etcdUrls = cluster.etcd.endpoints, env }: ExternalDnsOptions) {
  return { PATH: process.env.PATH, ETCD_URLS: etcdUrls.join(','), ...env }
}
