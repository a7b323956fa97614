// A hypervisor for tests: a libvirtd of our own in namespaces of its own (libvirt-lab.sh), so that nothing of the host's
// libvirt or network is touched, and nothing is left. Commands run inside by wrap(). For root, on Debian.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommandResult } from './command-line.ts'
import { until } from './until.ts'

const SCRIPT = join(import.meta.dirname, 'libvirt-lab.sh')
const NEEDED = [
  ...['/usr/sbin/libvirtd', '/usr/sbin/virtlogd', '/usr/sbin/dnsmasq'],
  ...['/usr/lib/libvirt/libvirt_lxc', '/usr/bin/qemu-system-x86_64', '/usr/bin/mmdebstrap'],
]

/** Why no lab can be started here; undefined when it can. */
export function whyNoLibvirt(): string | undefined {
  if (process.getuid?.() !== 0) return 'libvirt in namespaces of its own is for root'
  const missing = NEEDED.find((path) => !existsSync(path))
  return missing === undefined ? undefined : `there is no ${missing}: node scripts/install-packages.ts vm`
}

export interface LabNetwork {
  readonly name: string
  /** The first three octets: the host is `.1`, the router of the macvtap side `.254`. */
  readonly subnet: string
  /** `open`: forwarded as it is, without any rule of a firewall. */
  readonly forward?: 'nat' | 'open'
  /** That its DNS leads to the host. */
  readonly names?: readonly string[]
}

/** Where machines with macvtap interfaces are: they hang on `interface`, and their gateway is `gateway`. */
export interface MacvtapSide {
  readonly interface: string
  readonly subnet: string
  readonly gateway: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

export class LibvirtLab {
  readonly directory: string
  readonly #keeper: ChildProcess
  readonly #exit: Promise<unknown>
  readonly #init: number

  private constructor(directory: string, keeper: ChildProcess, init: number) {
    this.directory = directory
    this.#keeper = keeper
    this.#exit = once(keeper, 'exit')
    this.#init = init
  }

  /** `beside`: a second hypervisor in the network of a first one. Reached from there by `uriFromOutside`. */
  static async start({ beside }: { readonly beside?: LibvirtLab } = {}): Promise<LibvirtLab> {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-libvirt-'))
    const network = beside === undefined ? ['--net'] : []
    const place = beside === undefined ? [] : ['nsenter', `--net=/proc/${beside.#init}/ns/net`, '--']
    const [program, ...args] = [...place, 'bash', SCRIPT, directory, ...network]
    const keeper = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
    let output = ''
    keeper.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await until('a libvirtd that runs', () => {
      if (keeper.exitCode !== null) throw new Error(`Cannot start libvirtd: exit code ${keeper.exitCode}\n${output}`)
      return output.endsWith('ready\n')
    })
    const unshare = Number(output.split('\n')[0])
    const init = Number(readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8'))
    const lab = new LibvirtLab(directory, keeper, init)
    await until('an answer of libvirtd', async () => (await lab.run(['virsh', '-q', 'version'])).code === 0)
    return lab
  }

  /** For a hypervisor beside another one. */
  get uriFromOutside(): string {
    return `qemu+unix:///system?socket=${join(this.directory, 'run/libvirt-sock')}`
  }

  /** The words that run a command inside; it ends with whoever runs them. */
  wrap(command: readonly string[]): string[] {
    const inside = ['nsenter', `--target=${this.#init}`, '--mount', '--net', '--pid', '--cgroup', '--wd=.', '--']
    return [...inside, 'setpriv', '--pdeathsig', 'KILL', '--', ...command]
  }

  spawn(command: readonly string[], options: RunOptions = {}): ChildProcess {
    const [program, ...args] = this.wrap(command)
    const { cwd = this.directory, env = {} } = options
    return spawn(program, args, { cwd, env: { ...process.env, ...env } })
  }

  /** A command to its end. */
  async run(command: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    const child = this.spawn(command, options)
    const printed = { stdout: '', stderr: '' }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
    // It may end without having read it.
    child.stdin?.on('error', () => undefined).end(options.input ?? '')
    const [code] = (await once(child, 'close')) as [number | null]
    return { code: code ?? -1, ...printed }
  }

  /** What it prints; a failure is an error with all of it. */
  async done(command: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(command, options)
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}\n${stderr}\n${stdout}`)
    return stdout
  }

  virsh(...args: readonly string[]): Promise<string> {
    return this.done(['virsh', '-q', '-c', 'qemu:///system', ...args])
  }

  /** A pool of its own directory, which is returned. */
  async pool(name: string): Promise<string> {
    const path = join(this.directory, 'pools', name)
    mkdirSync(path, { recursive: true })
    await this.virsh('pool-define-as', name, 'dir', '--target', path)
    await this.virsh('pool-start', name)
    return path
  }

  /** A volume with the content of an image. */
  async volume(pool: string, name: string, image: string): Promise<void> {
    copyFileSync(image, join(this.directory, 'pools', pool, name), constants.COPYFILE_FICLONE)
    await this.virsh('pool-refresh', pool)
  }

  async network({ name, subnet, forward, names = [] }: LabNetwork): Promise<void> {
    const known = names.map((each) => `<hostname>${each}</hostname>`).join('')
    const xml = `<network>
  <name>${name}</name>
  ${forward === undefined ? '' : `<forward mode='${forward}'/>`}
  <bridge name='${bridgeOf(name)}' stp='off' delay='0'/>
  ${known === '' ? '' : `<dns><host ip='${subnet}.1'>${known}</host></dns>`}
  <ip address='${subnet}.1' prefix='24'><dhcp><range start='${subnet}.200' end='${subnet}.220'/></dhcp></ip>
</network>`
    await this.virsh('net-define', this.#written(`network-${name}`, xml))
    await this.virsh('net-start', name)
  }

  /** A domain as somebody else has it. */
  async define(xml: string): Promise<void> {
    await this.virsh('define', this.#written('domain', xml))
  }

  /**
   * A wire to another network, and a router between that one and `network`: what hangs on the wire by macvtap reaches
   * the machines there and the host, and they reach it.
   *
   *     macvtap ── wire ══ wire-end [router] bridge-end ══ bridge-port ── bridge of `network` ── host
   */
  async macvtapSide({ name, subnet: own }: LabNetwork, subnet: string): Promise<MacvtapSide> {
    const script = `set -e
      ip netns add router
      ip link add wire type veth peer name wire-end netns router
      ip link add bridge-port type veth peer name bridge-end netns router
      ip link set bridge-port master ${bridgeOf(name)}
      ip link set wire up
      ip link set bridge-port up
      ip -n router addr add ${subnet}.1/24 dev wire-end
      ip -n router addr add ${own}.254/24 dev bridge-end
      ip -n router link set lo up
      ip -n router link set wire-end up
      ip -n router link set bridge-end up
      ip netns exec router sysctl -qw net.ipv4.ip_forward=1
      ip route add ${subnet}.0/24 via ${own}.254
      sysctl -qw net.ipv4.ip_forward=1`
    await this.done(['sh', '-c', script])
    return { interface: 'wire', subnet, gateway: `${subnet}.1` }
  }

  /** A root file system to write to, in memory, over one that stays as it is; seen inside only. Made again under the same name, it is as new. */
  async overlay(name: string, lower: string): Promise<string> {
    const place = join(this.directory, 'overlays', name)
    const script = `set -e
      mkdir -p ${place}
      cd ${place}
      if mountpoint -q root; then umount root; fi
      rm -rf upper work && mkdir -p root upper work
      mount -t overlay -o lowerdir=${lower},upperdir=${place}/upper,workdir=${place}/work overlay root`
    await this.done(['sh', '-c', script])
    return join(place, 'root')
  }

  #written(name: string, xml: string): string {
    const file = join(this.directory, `${name}.xml`)
    writeFileSync(file, xml)
    return file
  }

  /** Process id of libvirtd, inside. */
  get daemon(): string {
    return readFileSync(join(this.directory, 'run/libvirtd.pid'), 'utf8').trim()
  }

  /** As after a crash; machines go on. */
  async killDaemon(): Promise<void> {
    await this.done(['kill', '-KILL', this.daemon])
  }

  async startDaemon(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.done(['libvirtd', '--daemon', '--pid-file', '/run/libvirt/libvirtd.pid'], { env })
  }

  /** Ends everything inside, and removes the directory. */
  async close(): Promise<void> {
    this.#keeper.stdin?.end()
    await this.#exit
  }
}

/** Interfaces have names of at most 15 characters. */
function bridgeOf(network: string): string {
  return `br-${network}`.slice(0, 15)
}
