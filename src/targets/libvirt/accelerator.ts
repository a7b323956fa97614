// Which kind of virtualization a machine gets. That a hypervisor offers KVM does not mean that machines boot with it, so `auto`
// tries: a machine that boots a few instructions and turns itself off, or does not. Asked once for each hypervisor.

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { Accelerator } from '../../machine/hardware.ts'
import type { Hypervisor, Pool, Volume } from './hypervisor.ts'
import type { DomainType } from './place-facts.ts'
import { probeDisk } from './probe-program.ts'
import { withTemporaryDirectory } from './temporary-directory.ts'
import { xmlElement, xmlText, xmlValue } from './xml-text.ts'

export interface AcceleratorOptions {
  readonly signal: AbortSignal
  /** Told what was tried, and what came out of it. */
  readonly progress: (line: string) => void
}

export class AcceleratorChoice {
  readonly #options: AcceleratorOptions
  /** By URI: what `auto` means there. */
  readonly #probed = new Map<string, Promise<DomainType>>()

  constructor(options: AcceleratorOptions) {
    this.#options = options
  }

  async choose(hypervisor: Hypervisor, wanted: Accelerator): Promise<DomainType> {
    if (hypervisor.kind === 'lxc') return 'lxc'
    if (wanted === 'tcg') return 'qemu'
    if (wanted === 'auto') return this.#probe(hypervisor)
    const { domainTypes } = await hypervisor.host()
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
  const obstacle = await probeKvm(hypervisor, pool, options.signal)
  options.progress(
    obstacle === undefined
      ? `machines boot with KVM on ${hypervisor.uri}`
      : `KVM on ${hypervisor.uri} does not boot machines (${obstacle}); they are emulated, which is slow`,
  )
  return obstacle === undefined ? 'kvm' : 'qemu'
}

function probePool(pools: readonly Pool[]): Pool | undefined {
  const usable = pools.filter(({ isActive, path }) => isActive && path !== undefined)
  return usable.find(({ name }) => name === 'default') ?? usable.find(({ type }) => type === 'dir')
}

/** What is in the way; undefined when nothing is. */
export async function probeKvm(
  hypervisor: Hypervisor,
  pool: Pick<Pool, 'name'>,
  signal: AbortSignal,
  type: 'kvm' | 'qemu' = 'kvm',
): Promise<string | undefined> {
  const name = `holdfast-probe-${randomBytes(6).toString('hex')}`
  const disk = probeDisk()
  const volume = await hypervisor.createVolume({
    ...{ pool: pool.name, name: `${name}.img`, format: 'raw', capacityBytes: disk.length },
  })
  try {
    await upload(hypervisor, volume, disk)
    await hypervisor.define(renderProbe(name, volume.path, type))
    return await bootProbe(hypervisor, name, signal)
  } finally {
    await hypervisor.deleteVolume(volume)
  }
}

/** A machine that boots is off in a second. */
const BOOT_MS = 10_000
const INTERVAL_MS = 300

async function bootProbe(hypervisor: Hypervisor, name: string, signal: AbortSignal): Promise<string | undefined> {
  let isRunning = false
  try {
    await hypervisor.start(name)
    isRunning = true
    for (const until = Date.now() + BOOT_MS; Date.now() < until; ) {
      await sleep(INTERVAL_MS, undefined, { signal })
      const state = (await hypervisor.domains()).find((domain) => domain.name === name)?.state
      isRunning = state !== 'shut off' && state !== undefined
      if (state === 'shut off') return undefined
      if (state !== 'running') return `one that was tried is ${state ?? 'gone'}`
    }
    return `one that was tried has not booted in ${BOOT_MS / 1000} s`
  } catch (thrown) {
    signal.throwIfAborted()
    return messageOf(thrown)
  } finally {
    if (isRunning) await hypervisor.destroy(name)
    await hypervisor.undefine(name)
  }
}

function upload(hypervisor: Hypervisor, volume: Volume, bytes: Uint8Array): Promise<void> {
  return withTemporaryDirectory(tmpdir(), async (directory) => {
    const file = join(directory, volume.name)
    await writeFile(file, bytes)
    await hypervisor.upload(volume, file)
  })
}

/** Of the same kind as our machines, with nothing that it does not need. */
function renderProbe(name: string, path: string, type: 'kvm' | 'qemu'): string {
  return xmlElement(`domain type='${type}'`, [
    `<name>${xmlText(name)}</name>`,
    `<description>Made by Holdfast to see whether machines boot here; gone in a moment</description>`,
    `<memory unit='MiB'>64</memory>`,
    `<vcpu>1</vcpu>`,
    `<os>\n  <type arch='x86_64' machine='q35'>hvm</type>\n  <boot dev='hd'/>\n</os>`,
    `<features>\n  <acpi/>\n  <apic/>\n</features>`,
    ...(type === 'kvm' ? [`<cpu mode='host-passthrough' check='none' migratable='on'/>`] : []),
    `<on_poweroff>destroy</on_poweroff>`,
    `<on_crash>destroy</on_crash>`,
    xmlElement('devices', [
      xmlElement(`disk type='file' device='disk'`, [
        `<driver name='qemu' type='raw'/>`,
        `<source file='${xmlValue(path)}'/>`,
        `<target dev='vda' bus='virtio'/>`,
      ]),
      `<memballoon model='none'/>`,
    ]),
  ])
}
