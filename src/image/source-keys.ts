// Who must have signed an archive, where its entry in apt's sources says so. apt itself tells only where the entry is.

import { existsSync, readFileSync } from 'node:fs'

/** `entry` is FILE:N, the nth line of a .list or the nth paragraph of a .sources. Files and fingerprints, with commas between. */
export function keysOf(entry: string): string | undefined {
  const { file, number } = /^(?<file>.+):(?<number>\d+)$/u.exec(entry)?.groups ?? {}
  if (file === undefined || !existsSync(file)) return undefined
  const text = readFileSync(file, 'utf8')
  const index = Number(number) - 1
  if (!file.endsWith('.sources'))
    return /\[[^\]]*\bsigned-by=(?<keys>[^\s\]]+)/iu.exec(text.split('\n')[index])?.groups?.keys
  return /^Signed-By:[ \t]*(?<keys>\S.*)$/imu
    .exec(paragraphs(text)[index])
    ?.groups?.keys.trim()
    .replaceAll(/[\s,]+/gu, ',')
}

function paragraphs(text: string): readonly string[] {
  return text
    .replaceAll(/^#.*\n/gmu, '')
    .split(/\n[ \t]*\n/u)
    .filter((each) => each.trim() !== '')
}
