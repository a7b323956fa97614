// Volumes that a machine reads as a CD-ROM: ISO 9660 with Rock Ridge, by xorriso. Nothing of the moment or of who makes it
// goes into one, so the same files give the same bytes.

import { chmod } from 'node:fs/promises'
import { HoldfastError } from '../../lib/errors.ts'
import { capture } from '../../lib/exec.ts'

/** Of everything on an image. */
const UNIX_SECONDS = 1_700_000_000
const FILE_DATES = '2023111422132000'
const TIMEOUT_MS = 120_000

export interface IsoImage {
  readonly file: string
  readonly label: string
  /** What is on it, with the modes that it has there. */
  readonly directory: string
}

export async function buildIso({ file, label, directory }: IsoImage, signal: AbortSignal): Promise<void> {
  const layout = ['-iso-level', '3', '-R', '-D', '-uid', '0', '-gid', '0', '-V', label]
  const command = ['-as', 'mkisofs', '-quiet', ...layout, '--set_all_file_dates', FILE_DATES, '-o', file, directory]
  await xorriso(command, `make "${file}"`, signal)
  await chmod(file, 0o600)
}

/** Takes a file out of an image. Rejects where there is no image or no such file. */
export async function extractFromIso(image: string, path: string, to: string, signal: AbortSignal): Promise<void> {
  const command = ['-osirrox', 'on', '-indev', `stdio:${image}`, '-extract', path, to]
  await xorriso(command, `read "${path}" of "${image}"`, signal)
}

async function xorriso(args: readonly string[], what: string, signal: AbortSignal): Promise<void> {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', SOURCE_DATE_EPOCH: String(UNIX_SECONDS) }
  const { reason, isMissing, stderr } = await capture(['xorriso', '-no_rc', ...args], {
    timeoutMs: TIMEOUT_MS,
    signal,
    env,
  })
  if (reason === undefined) return
  const said = stderr.split('\n').find((line) => / : (?:FAILURE|FATAL|SORRY) : /u.test(line))
  throw new HoldfastError('IsoFailed', `Cannot ${what}: ${said?.split(' : ').slice(2).join(': ') ?? reason}`, {
    ...(isMissing ? { hint: 'xorriso is in the Debian package of that name' } : {}),
  })
}
