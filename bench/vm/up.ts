// A stack of virtual machines or containers from nothing to healthy, by what its machines are at: what `up` tells as it
// goes, with the time at which it told it.

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { containerRoot, diskImage } from '../../test/support/libvirt-image.ts'
import { LibvirtLab } from '../../test/support/libvirt-lab.ts'
import { MACHINES, NETWORK, onNetwork, POOL, stackFile } from '../../test/support/libvirt-machines.ts'
import { LibvirtStack } from '../../test/support/libvirt-stack.ts'

export type Kind = 'machines' | 'containers'

export interface Came {
  readonly machine: string
  readonly phase: string
  /** Since the command began. */
  readonly seconds: number
}

export interface UpResult {
  readonly kind: Kind
  readonly came: readonly Came[]
  /** Of the whole command. */
  readonly seconds: number
}

const TIMEOUT_SECONDS = 1200
/** `     12.3 s  etcd-1: booting` */
const LINE = /\s(?<machine>[a-z]+-\d+): (?<phase>.*)$/u

export async function upOnce(kind: Kind): Promise<UpResult> {
  const lab = await LibvirtLab.start()
  try {
    await lab.network(NETWORK)
    await lab.pool(POOL)
    const stack = new LibvirtStack(lab, 'bench', { timeoutSeconds: TIMEOUT_SECONDS })
    stack.file(await fileOf(kind, lab))
    const started = performance.now()
    const child = lab.spawn(stack.words('up', '--yes', '--detach', '--timeout', String(TIMEOUT_SECONDS)), {
      cwd: stack.directory,
    })
    const came: Came[] = []
    const lines: string[] = []
    if (child.stderr === null || child.stdout === null) throw new Error('no output')
    child.stdout.resume()
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      const { machine, phase } = LINE.exec(line)?.groups ?? {}
      if (MACHINES.includes(machine ?? '')) came.push({ machine, phase, seconds: (performance.now() - started) / 1000 })
    })
    const [code] = (await once(child, 'close')) as [number]
    if (code !== 0) throw new Error(`up ended with ${code}\n${lines.slice(-20).join('\n')}`)
    const seconds = (performance.now() - started) / 1000
    await stack.purge()
    return { kind, came, seconds }
  } finally {
    await lab.close()
  }
}

async function fileOf(kind: Kind, lab: LibvirtLab): Promise<string> {
  const pools = [`volume_pool: ${POOL}`, `cloud_init_volume_pool: ${POOL}`]
  if (kind === 'machines') {
    await lab.volume(POOL, 'base.qcow2', await diskImage())
    const settings = ['hypervisor: qemu:///system', 'accelerator: tcg', `base_volume: ${POOL}/base.qcow2`]
    return stackFile([...settings, ...pools, 'vcpus: 1', 'memory: 768'], onNetwork, {})
  }
  const root = await containerRoot()
  const roots = new Map<string, string>()
  for (const machine of MACHINES) roots.set(machine, await lab.overlay(machine, root))
  const member = (machine: string) => `${onNetwork(machine)}, volume_id: ${roots.get(machine)}`
  return stackFile(['hypervisor: lxc:///system', ...pools, 'memory: 768'], member, {})
}
