// Tries whether a hypervisor boots machines: one is made that turns itself off when it has booted. Its definition comes first and goes
// last, so that what somebody who was killed has left is found, with its volume, by whoever tries the next time.

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError, messageOf } from '../../lib/errors.ts'
import { diskSource, diskType } from './disk-source.ts'
import type { DomainState, Hypervisor, Pool, Volume } from './hypervisor.ts'
import { probeDisk } from './probe-program.ts'
import { withTemporaryDirectory } from './temporary-directory.ts'
import { xmlElement, xmlText } from './xml-text.ts'

export type ProbePool = Pick<Pool, 'name'> & { readonly path: string }

/** A machine that boots is off in a second, on a host that is busy in some. */
const BOOT_MS = 20_000
const INTERVAL_MS = 300
/** From these a machine does not come back by itself. */
const FAILED: readonly DomainState['state'][] = ['paused', 'crashed']
/** For clearing away, also when nobody waits for us any more. */
const CLEAR_MS = 20_000
/** No trial takes as long. */
const STALE_MS = 5 * 60_000
/** With the second of its beginning. */
const NAME = /^holdfast-probe-(\d+)-[0-9a-f]{12}$/u

/** What is in the way; undefined when nothing is. */
export async function probeKvm(
  hypervisor: Hypervisor,
  pool: ProbePool,
  signal: AbortSignal,
  type: 'kvm' | 'qemu' = 'kvm',
): Promise<string | undefined> {
  await sweepProbes(hypervisor)
  const name = `holdfast-probe-${Math.floor(Date.now() / 1000)}-${randomBytes(6).toString('hex')}`
  const path = join(pool.path, `${name}.img`)
  try {
    await hypervisor.define(renderProbe(name, path, type))
    const disk = probeDisk()
    const volume = await hypervisor.createVolume({
      ...{ pool: pool.name, name: `${name}.img`, format: 'raw', capacityBytes: disk.length },
    })
    await upload(hypervisor, volume, disk)
    return await bootProbe(hypervisor, name, signal)
  } finally {
    await clearProbe(hypervisor, name, path)
  }
}

async function bootProbe(hypervisor: Hypervisor, name: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    await hypervisor.start(name)
    for (const until = Date.now() + BOOT_MS; Date.now() < until; ) {
      await sleep(INTERVAL_MS, undefined, { signal })
      const state = (await hypervisor.state(name))?.state
      if (state === 'shut off') return undefined
      // Any other state passes: a machine that turns itself off is "in shutdown" for a moment.
      if (state === undefined || FAILED.includes(state)) return `one that was tried is ${state ?? 'gone'}`
    }
    return `one that was tried has not booted in ${BOOT_MS / 1000} s`
  } catch (thrown) {
    signal.throwIfAborted()
    // Emulation would be for good: a connection that was lost is no reason for it.
    if (thrown instanceof HoldfastError && thrown.code === 'HypervisorUnreachable') throw thrown
    return messageOf(thrown)
  }
}

async function sweepProbes(hypervisor: Hypervisor): Promise<void> {
  for (const { name, definition } of await hypervisor.domains()) {
    const begun = NAME.exec(name)?.[1]
    if (begun !== undefined && Date.now() - Number(begun) * 1000 > STALE_MS)
      await clearProbe(hypervisor, name, definition.disks[0])
  }
}

/** As far as it is there. What cannot be cleared away now is left to the next one who tries. */
async function clearProbe(hypervisor: Hypervisor, name: string, path: string): Promise<void> {
  await removeProbe(hypervisor.until(AbortSignal.timeout(CLEAR_MS)), name, path).catch(() => undefined)
}

async function removeProbe(hypervisor: Hypervisor, name: string, path: string): Promise<void> {
  if ((await hypervisor.state(name)) === undefined) return
  await hypervisor.destroy(name)
  const volume = await hypervisor.findVolume(path)
  if (volume !== undefined) await hypervisor.deleteVolume(volume)
  await hypervisor.undefine(name)
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
      xmlElement(`disk type='${diskType(path)}' device='disk'`, [
        `<driver name='qemu' type='raw'/>`,
        diskSource(path),
        `<target dev='vda' bus='virtio'/>`,
      ]),
      `<memballoon model='none'/>`,
    ]),
  ])
}
