import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { domain, hypervisorOf, volume } from '../../../test/support/hypervisor-data.ts'
import { HARDWARE } from '../../../test/support/machine-spec.ts'
import { hasFilledDisk, hasFilledVolume } from './filled-disk.ts'
import type { Hypervisor } from './hypervisor.ts'
import type { MachineRecord } from './machine-record.ts'

const MIB = 1024 ** 2
const root = volume('default', 'root')
const empty = volume('default', 'empty', { allocationBytes: MIB / 4 })
const thin = volume('default', 'thin', { allocationBytes: 30 * MIB })
const thick = volume('default', 'thick', { allocationBytes: 10 * 1024 ** 3, capacityBytes: 10 * 1024 ** 3 })
const hypervisor = hypervisorOf({ volumes: [root, empty, thin, thick] })

function record(data: string | undefined, change: Partial<MachineRecord> = {}): MachineRecord {
  const disk = (path: string) => ({ path, format: 'raw', isOurs: false })
  return {
    ...{ stack: 's', machine: 'm', kind: 'etcd', address: '', instanceId: 'i', seedDigest: '', hardware: {} },
    disks: {
      root: { ...disk(root.path), pool: 'default', isOurs: true },
      seed: disk('/seed'),
      data: data === undefined ? undefined : disk(data),
      program: undefined,
    },
    ...change,
  }
}

test('a data disk counts as filled unless it is certainly empty', async () => {
  const filled = (data: string, change: Partial<MachineRecord> = {}) =>
    hasFilledDisk({ hypervisor, record: record(data, change) })
  expect(await filled(empty.path)).toBe(false)
  expect(await filled(empty.path, { hasBooted: true })).toBe(true)
  expect(await filled(thin.path)).toBe(true)
  expect(await filled(thick.path)).toBe(true)
})

test('a disk with all its room from the beginning is empty when its first bytes are', async () => {
  const raw = volume('lvm', 'raw', { format: 'raw', allocationBytes: 10 * 1024 ** 3, capacityBytes: 10 * 1024 ** 3 })
  const filledWith = (bytes: Buffer) => {
    const download: Hypervisor['download'] = async (_, path) => writeFileSync(path, bytes)
    return hasFilledDisk({ hypervisor: { ...hypervisorOf({ volumes: [raw] }), download }, record: record(raw.path) })
  }
  expect(await filledWith(Buffer.alloc(MIB))).toBe(false)
  expect(await filledWith(Buffer.alloc(MIB, 'ext4', 'latin1'))).toBe(true)
})

test('a volume with data of a machine that is gone is found; one that cannot tell counts as filled', async () => {
  const filled = (dataVolumeId?: string) => hasFilledVolume(hypervisor, { ...HARDWARE, dataVolumeId })
  expect(await Promise.all([undefined, 'default/none', empty.path, 'default/thin', thick.path].map(filled))).toEqual([
    ...[false, false, false, true, true],
  ])
})

test('a root disk is filled once it was booted, unless that boot was cut: then it is made anew', async () => {
  const booted = (change: Partial<MachineRecord>, state: 'running' | 'shut off') =>
    hasFilledDisk({ hypervisor, record: record(undefined, change), domain: domain('s-m', { state }) })
  expect(await booted({}, 'shut off')).toBe(false)
  expect(await booted({ hasBooted: true, appliedDigest: 'x' }, 'shut off')).toBe(true)
  expect(await booted({ hasBooted: true }, 'running')).toBe(true)
  expect(await booted({ hasBooted: true }, 'shut off')).toBe(false)
  expect(await booted({ hasBooted: true, isKept: true }, 'shut off')).toBe(true)
})

test('of a container it is a directory', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-filled-'))
  const filled = (dataVolumeId: string) => hasFilledVolume(hypervisorOf({ kind: 'lxc' }), { ...HARDWARE, dataVolumeId })
  try {
    expect([await filled(directory), await filled(join(directory, 'none'))]).toEqual([false, false])
    writeFileSync(join(directory, 'x'), '')
    expect(await filled(directory)).toBe(true)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
