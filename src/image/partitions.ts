// The disk of an image: GPT with a partition for GRUB's core, and one for everything else, which is the last, so that it can
// grow with the disk. Identities are the same in every image: they decide nothing, and the bytes come out the same.

/** Of everything else, as the kernel and fstab know it. */
export const ROOT_PARTITION = '3a1f6a0e-6f0c-4d0f-9d43-0f2b7a7c0002'
const FILE_SYSTEM = '3a1f6a0e-6f0c-4d0f-9d43-0f2b7a7c0003'
const HASH_SEED = '3a1f6a0e-6f0c-4d0f-9d43-0f2b7a7c0004'

export const SECTOR_BYTES = 512
const SECTORS_PER_MIB = (1024 * 1024) / SECTOR_BYTES
/** GRUB knows it by its number. */
export const ROOT_NUMBER = 2
export const CORE_SECTOR = SECTORS_PER_MIB
export const ROOT_SECTOR = 2 * SECTORS_PER_MIB

/** Its clones grow; it takes only what is written to it. */
export const DISK_MIB = 4096
/** The last is left to the second table of partitions. */
const ROOT_MIB = DISK_MIB - 3

/** For mke2fs. */
export const FILE_SYSTEM_OPTIONS: readonly string[] = [
  ...['-q', '-F', '-t', 'ext4', '-m', '1', '-e', 'remount-ro', '-U', FILE_SYSTEM],
  ...['-E', `hash_seed=${HASH_SEED},offset=${ROOT_SECTOR * SECTOR_BYTES}`],
]
/** As it takes it. */
export const FILE_SYSTEM_SIZE = `${ROOT_MIB}M`

/** Containers have the same root file system, and no disk. */
export const FSTAB = `PARTUUID=${ROOT_PARTITION} / ext4 errors=remount-ro 0 1\n`

/** For sfdisk. */
export const PARTITION_TABLE = `label: gpt
label-id: 3a1f6a0e-6f0c-4d0f-9d43-0f2b7a7c0000
start=${CORE_SECTOR}, size=${ROOT_SECTOR - CORE_SECTOR}, type=21686148-6449-6E6F-744E-656564454649, uuid=3a1f6a0e-6f0c-4d0f-9d43-0f2b7a7c0001
start=${ROOT_SECTOR}, size=${ROOT_MIB * SECTORS_PER_MIB}, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4, uuid=${ROOT_PARTITION}
`
