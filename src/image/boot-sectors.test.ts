import { expect, test } from 'vitest'
import { bootSectors } from './boot-sectors.ts'

const boot = Buffer.alloc(512, 0xaa)

test('the first sector of the disk says where the core is, and leaves the table of partitions alone', () => {
  const { bootCode } = bootSectors(boot, Buffer.alloc(512), 2048)
  expect(bootCode).toHaveLength(440)
  expect(bootCode.readBigUInt64LE(0x5c)).toBe(2048n)
  expect([...bootCode.subarray(0x64, 0x69)]).toEqual([0xaa, 0xaa, 0x90, 0x90, 0xaa])
})

test('the first sector of the core says where the rest of it is, in whole sectors', () => {
  const { core } = bootSectors(boot, Buffer.alloc(3 * 512 + 1, 0xbb), 2048)
  expect(core).toHaveLength(4 * 512)
  expect(core.readBigUInt64LE(0x1f4)).toBe(2049n)
  expect(core.readUInt16LE(0x1fc)).toBe(3)
  expect(core[3 * 512]).toBe(0xbb)
  expect(core[3 * 512 + 1]).toBe(0)
})

test('what it was given stays as it was', () => {
  const given = Buffer.alloc(1024, 1)
  bootSectors(boot, given, 2048)
  expect(given.every((byte) => byte === 1)).toBe(true)
  expect(boot.every((byte) => byte === 0xaa)).toBe(true)
})
