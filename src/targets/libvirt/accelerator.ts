// Which kind of virtualization a machine gets. That a hypervisor offers KVM does not mean that machines boot with it, so `auto`
// tries: a machine that boots a few instructions and turns itself off, or does not. Asked once for each hypervisor.

import { HoldfastError } from '../../lib/errors.ts'
import type { Accelerator } from '../../machine/hardware.ts'
import type { Hypervisor, Pool } from './hypervisor.ts'
import type { DomainType } from './place-facts.ts'
import { type ProbePool, probeKvm } from './probe.ts'

export interface AcceleratorOptions {
  readonly signal: AbortSignal
  /** Told what was tried, and what came out of it. */
  readonly progress: (line: string) => void
}

/** Kinds of pools. */
const NAMED_BY_PATH: readonly string[] = ['dir', 'fs', 'netfs', 'logical']

export class AcceleratorChoice {
  readonly #options: AcceleratorOptions
  /** By URI: what `auto` means there. */
  readonly #probed = new Map<string, Promise<DomainType>>()

  constructor(options: AcceleratorOptions) {
    this.#options = options
  }

  async choose(hypervisor: Hypervisor, wanted: Accelerator): Promise<DomainType> {
    return wanted === 'auto' && hypervisor.kind === 'qemu' ? this.#probe(hypervisor) : this.expect(hypervisor, wanted)
  }

  /** What it comes to as far as can be told without trying: nothing is made for that. */
  async expect(hypervisor: Hypervisor, wanted: Accelerator): Promise<DomainType> {
    if (hypervisor.kind === 'lxc') return 'lxc'
    if (wanted === 'tcg') return 'qemu'
    const { domainTypes } = await hypervisor.host()
    if (wanted === 'auto') return this.#probed.get(hypervisor.uri) ?? (domainTypes.includes('kvm') ? 'kvm' : 'qemu')
    if (domainTypes.includes('kvm')) return 'kvm'
    throw new HoldfastError('AcceleratorMissing', `Cannot use KVM on ${hypervisor.uri}: it is not there`, {
      hint: 'is virtualization switched on in the firmware, and the module kvm loaded? "accelerator: tcg" does without, slowly',
    })
  }

  #probe(hypervisor: Hypervisor): Promise<DomainType> {
    const known = this.#probed.get(hypervisor.uri)
    if (known !== undefined) return known
    const probing = chooseByTrying(hypervisor, this.#options)
    this.#probed.set(hypervisor.uri, probing)
    probing.catch(() => this.#probed.delete(hypervisor.uri))
    return probing
  }
}

async function chooseByTrying(hypervisor: Hypervisor, options: AcceleratorOptions): Promise<DomainType> {
  const [{ domainTypes, arch }, pools] = await Promise.all([hypervisor.host(), hypervisor.pools()])
  if (!domainTypes.includes('kvm')) {
    options.progress(`${hypervisor.uri} has no KVM; its machines are emulated, which is slow`)
    return 'qemu'
  }
  const pool = probePool(pools)
  // What we boot is for one architecture alone, and has to be somewhere.
  if (arch !== 'x86_64' || pool === undefined) return 'kvm'
  options.progress(`trying whether machines boot with KVM on ${hypervisor.uri}`)
  const obstacle = await probeKvm(hypervisor, pool, options.signal)
  options.progress(
    obstacle === undefined
      ? `machines boot with KVM on ${hypervisor.uri}`
      : `KVM on ${hypervisor.uri} does not boot machines (${obstacle}); they are emulated, which is slow${remedy(obstacle)}`,
  )
  return obstacle === undefined ? 'kvm' : 'qemu'
}

/** Where nobody has set up the rights of the device, as udev does. */
function remedy(obstacle: string): string {
  const isForbidden = /KVM.*permission denied/isu.test(obstacle)
  return isForbidden ? '; QEMU may not open /dev/kvm there: chgrp kvm /dev/kvm && chmod 660 /dev/kvm' : ''
}

/** One whose volumes are below its path under their names: in others nobody knows where one will be before it is made. */
function probePool(pools: readonly Pool[]): ProbePool | undefined {
  const usable = pools.flatMap(({ isActive, path, ...pool }) =>
    isActive && path !== undefined && NAMED_BY_PATH.includes(pool.type) ? [{ ...pool, path }] : [],
  )
  return usable.find(({ name }) => name === 'default') ?? usable.find(({ type }) => type === 'dir')
}
