// KubeSecondaryDNS's own program beside a KubeCluster, to compare with. It writes to /zones and listens on port 8081 of every
// address, and neither can be told otherwise: so it gets a root directory, a network and process ids of its own. All that
// leads out of there is a socket file, through which a relay on each side passes its connections to the API server.
// HOLDFAST_KUBESECONDARYDNS names the program, built without cgo; tests that need it are skipped where it is not set.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import type { KubeCluster } from './kube-cluster.ts'

/** Within its network: from the address of the API server to the socket file, and the program once that stands. */
const RELAY = `
const { spawn } = require('node:child_process')
const { connect, createServer } = require('node:net')
const { pipeline } = require('node:stream')
const [socket, host, port, root] = process.argv.slice(1)
createServer((one) => {
  const other = connect(socket)
  pipeline(one, other, one, () => {})
}).listen(port, host, () => {
  const manager = spawn('chroot', [root, '/manager', '-kubeconfig=/kubeconfig'], { stdio: 'inherit' })
  manager.once('exit', (code) => process.exit(code ?? 1))
})
`

export interface KubeSecondaryDnsOptions {
  /** As the variable DOMAIN. */
  readonly domain?: string
  /** As the variable NAME_SERVER_IP. */
  readonly nameServerIp?: string
  /** Is kept, with the zone in it; one that goes with the program unless given. */
  readonly directory?: string
}

/** The program; undefined where it is not given. */
export function findKubeSecondaryDns(): string | undefined {
  return process.env.HOLDFAST_KUBESECONDARYDNS || undefined
}

export class KubeSecondaryDns {
  readonly #directory: string
  readonly #isKept: boolean
  readonly #zone: string
  readonly #relay: Server
  readonly #child: ChildProcess

  private constructor(
    program: string,
    cluster: KubeCluster,
    { domain = '', nameServerIp = '', directory }: KubeSecondaryDnsOptions,
  ) {
    this.#directory = directory ?? mkdtempSync(join(tmpdir(), 'holdfast-ksd-'))
    this.#isKept = directory !== undefined
    const root = join(this.#directory, 'root')
    mkdirSync(KubeSecondaryDns.zonesIn(this.#directory), { recursive: true })
    copyFileSync(program, join(root, 'manager'))
    writeFileSync(join(root, 'kubeconfig'), cluster.portableKubeconfig())
    this.#zone = join(root, 'zones', domain === '' ? 'db.vm' : `db.vm.${domain}`)

    const { hostname, port } = new URL(cluster.server)
    const socket = join(this.#directory, 'api.sock')
    this.#relay = createServer((one) => {
      const other = connect(Number(port), hostname)
      pipeline(one, other, one, () => {})
    }).listen(socket)

    const log = openSync(join(this.#directory, 'log'), 'a')
    const alone = ['--map-root-user', '--net', '--pid', '--fork', '--kill-child']
    const inside = ['sh', '-c', 'ip link set lo up && exec "$0" "$@"']
    const relay = [process.execPath, '-e', RELAY, socket, hostname, port, root]
    // It ends with the test, however that ends.
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...alone, ...inside, ...relay], {
      stdio: ['ignore', log, log],
      env: { PATH: process.env.PATH, DOMAIN: domain, NAME_SERVER_IP: nameServerIp },
    })
    closeSync(log)
  }

  static start(cluster: KubeCluster, options: KubeSecondaryDnsOptions = {}): KubeSecondaryDns {
    const program = findKubeSecondaryDns()
    if (program === undefined) throw new Error('HOLDFAST_KUBESECONDARYDNS does not name a program')
    return new KubeSecondaryDns(program, cluster, options)
  }

  /** Where it writes, with `directory` as an option. */
  static zonesIn(directory: string): string {
    return join(directory, 'root', 'zones')
  }

  /** Of what makes room for the program, which is among its descendants. */
  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('KubeSecondaryDNS was not started')
    return this.#child.pid
  }

  /** The zone file as it is now; undefined before there is one. */
  get zoneText(): string | undefined {
    return existsSync(this.#zone) ? readFileSync(this.#zone, 'utf8') : undefined
  }

  /** What it printed. */
  get output(): string {
    return readFileSync(join(this.#directory, 'log'), 'utf8')
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exit = once(this.#child, 'exit')
      this.#child.kill('SIGKILL')
      await exit
    }
    this.#relay.close()
    if (!this.#isKept) rmSync(this.#directory, { recursive: true, force: true })
  }
}
