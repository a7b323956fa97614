// A stack of the target `libvirt` whose machines are containers, in a lab that several may share: virtual machines in all but
// their kernel, and there within seconds.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Hardware } from '../../src/machine/hardware.ts'
import type { Machine } from '../../src/machine/machine.ts'
import type { Hypervisor } from '../../src/targets/libvirt/hypervisor.ts'
import { LibvirtTarget } from '../../src/targets/libvirt/libvirt-target.ts'
import { openHypervisor } from '../../src/targets/libvirt/virsh.ts'
import type { LibvirtLab } from './libvirt-lab.ts'
import { HARDWARE } from './machine-spec.ts'

const URI = 'lxc:///system'
const NETWORK = { name: 'stack', subnet: '10.76.0' } as const
const POOL = 'default'

/** Once for a lab, before the first stack. */
export async function prepareLab(lab: LibvirtLab): Promise<void> {
  await lab.pool(POOL)
  await lab.network(NETWORK)
}

export interface ContainerStackOptions {
  readonly name: string
  /** The root directory that its machine begins with. */
  readonly image: string
  readonly change?: (hypervisor: Hypervisor) => Hypervisor
}

export class ContainerStack {
  readonly name: string
  readonly lab: LibvirtLab
  readonly hypervisor: Hypervisor
  readonly target: LibvirtTarget
  /** What systemd gives every service; `nobody` has neither home nor shell. */
  readonly variables = ['INVOCATION_ID', 'JOURNAL_STREAM', 'LOGNAME', 'SYSTEMD_EXEC_PID', 'USER']
  /** What machines were at, as it was told. */
  readonly phases: string[] = []
  readonly temporary: string
  readonly #ending = new AbortController()
  /** The root directory of its machine. */
  readonly root: string

  private constructor(lab: LibvirtLab, name: string, root: string, change: (hypervisor: Hypervisor) => Hypervisor) {
    this.lab = lab
    this.name = name
    this.root = root
    const { signal } = this.#ending
    const env = { PATH: process.env.PATH }
    this.hypervisor = change(openHypervisor(URI, { signal, env, prefix: lab.wrap([]) }))
    this.temporary = mkdtempSync(join(lab.directory, 'temporary-'))
    this.target = new LibvirtTarget({
      ...{ stack: name, hypervisors: [this.hypervisor], hardware: new Map(), temporary: this.temporary, signal },
      chooseType: () => Promise.resolve('lxc'),
      onPhase: (machine, phase) => this.phases.push(`${machine}: ${phase}`),
      bootTimeoutMs: 170_000,
    })
  }

  /** With a root directory for one machine, as new. `change` puts something between the target and its hypervisor. */
  static async open(
    lab: LibvirtLab,
    { name, image, change = (hypervisor) => hypervisor }: ContainerStackOptions,
  ): Promise<ContainerStack> {
    const stack = new ContainerStack(lab, name, await lab.overlay(name, image), change)
    await stack.prepareRoot()
    return stack
  }

  /** Logs outlive a stop, the user of small machines has a group of that name, and nobody waits for a router. */
  async prepareRoot(): Promise<void> {
    const script = `set -e
      cd ${this.root}
      mkdir -p var/log/journal etc/systemd/network/10-cloud-init-eth0.network.d
      grep -q ^nobody: etc/group || echo nobody:x:65533: >>etc/group
      printf '[Network]\\nLinkLocalAddressing=no\\nIPv6AcceptRA=no\\n' >etc/systemd/network/10-cloud-init-eth0.network.d/quiet.conf`
    await this.lab.done(['sh', '-c', script])
  }

  /** A machine of another target as a container of this stack. */
  fit(machine: Machine): Machine {
    const hardware: Hardware = {
      ...HARDWARE,
      ...{ hypervisor: URI, vcpus: 1, memoryMib: 512, volumeId: this.root, installDependencies: false },
      networks: [
        {
          attach: { networkName: NETWORK.name },
          ip: `${NETWORK.subnet}.11`,
          ...{ mac: undefined, prefixLength: undefined, gateway: undefined, dnsServers: [] },
        },
      ],
    }
    return { ...machine, hardware, address: `${NETWORK.subnet}.11` }
  }

  async up(machine: Machine): Promise<void> {
    await this.target.write(machine)
    await this.target.start(machine)
  }

  /** Also of a machine that is switched off. */
  async log(_machine: string, service: string): Promise<string> {
    const unit = `_SYSTEMD_UNIT=holdfast-${service}.service`
    return (await this.lab.run(['journalctl', '-q', '-D', `${this.root}/var/log/journal`, '-o', 'cat', unit])).stdout
  }

  /** Only whether there are any. */
  async processes(machine: string): Promise<number[]> {
    const { stdout } = await this.lab.run(['virsh', '-q', '-c', URI, 'domid', `${this.name}-${machine}`])
    const id = Number.parseInt(stdout, 10)
    return Number.isNaN(id) ? [] : [id]
  }

  /** Runs in the container. */
  inside(machine: string, script: string): Promise<string> {
    return this.hypervisor
      .enter(`${this.name}-${machine}`, ['sh', '-c', script], { timeoutMs: 120_000 })
      .then(({ output }) => output)
  }

  /** What there is in the pool, and of domains. */
  async leftovers(): Promise<{ readonly domains: string; readonly volumes: readonly string[] }> {
    const domains = (await this.lab.done(['virsh', '-q', '-c', URI, 'list', '--all', '--name'])).trim()
    return { domains, volumes: readdirSync(join(this.lab.directory, 'pools', POOL)) }
  }

  async close(): Promise<void> {
    for (const name of (await this.target.machines()).keys()) {
      await this.lab.run(['virsh', '-c', URI, 'destroy', `${this.name}-${name}`])
      await this.target.remove(name, { keepData: false })
    }
    this.#ending.abort()
    rmSync(this.temporary, { recursive: true, force: true })
  }
}
