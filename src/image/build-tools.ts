// What a build needs of the host, looked at before anything is made.

import { HoldfastError } from '../lib/errors.ts'
import { installCommand, missingPackages } from '../targets/local/packages.ts'
import type { ImageFormat } from './image.ts'

const TOOLS = ['mmdebstrap', 'tar', 'util-linux'] as const
const DISK_TOOLS = ['e2fsprogs', 'fdisk', 'qemu-utils'] as const

export async function checkTools(format: ImageFormat, signal: AbortSignal): Promise<void> {
  if (process.geteuid?.() !== 0)
    throw new HoldfastError(
      'ImageNeedsRoot',
      'Cannot build an image: not running as root; files of an image belong to its own users',
      { hint: 'run it with sudo' },
    )
  const missing = await missingPackages(format === 'qcow2' ? [...TOOLS, ...DISK_TOOLS] : TOOLS, signal)
  if (missing.length > 0)
    throw new HoldfastError('ImageToolsMissing', `Cannot build an image: not installed: ${missing.join(', ')}`, {
      hint: `run this first: ${installCommand(missing)}`,
    })
}
