// The first sectors of a disk that a BIOS starts by GRUB: what grub-bios-setup does to a disk, done to bytes, which needs
// neither a loop device nor a mount. The first sector of the disk reads the core from its own partition, and the first
// sector of the core reads the rest of it: both get to know where that is.

const SECTOR_BYTES = 512
/** Behind it are the signature of the disk and its partitions. */
const BOOT_CODE_BYTES = 440
/** In the first sector of the disk: where the core begins (64 bits). */
const CORE_SECTOR_AT = 0x5c
/** In the first sector of the disk: a jump that trusts BIOSes which call a hard disk a floppy, unless it is taken out. */
const DRIVE_CHECK_AT = 0x66
const NO_OPERATION = 0x90
/** In the first sector of the core: where the rest begins (64 bits), and how many sectors that is (16 bits). */
const REST_SECTOR_AT = 0x1f4
const REST_COUNT_AT = 0x1fc

export interface BootSectors {
  /** For the beginning of the disk. */
  readonly bootCode: Buffer
  /** For the beginning of the boot partition. */
  readonly core: Buffer
}

/** `boot` and `core` are GRUB's boot.img and what grub-mkimage made; the core is to begin at `sector`. */
export function bootSectors(boot: Uint8Array, core: Uint8Array, sector: number): BootSectors {
  const bootCode = Buffer.from(boot.subarray(0, BOOT_CODE_BYTES))
  bootCode.writeBigUInt64LE(BigInt(sector), CORE_SECTOR_AT)
  bootCode.fill(NO_OPERATION, DRIVE_CHECK_AT, DRIVE_CHECK_AT + 2)
  const sectors = Math.ceil(core.length / SECTOR_BYTES)
  const placed = Buffer.alloc(sectors * SECTOR_BYTES)
  placed.set(core)
  placed.writeBigUInt64LE(BigInt(sector + 1), REST_SECTOR_AT)
  placed.writeUInt16LE(sectors - 1, REST_COUNT_AT)
  return { bootCode, core: placed }
}
