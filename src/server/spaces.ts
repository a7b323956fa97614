// Which blocks serve the same zones. A block is made for every port, so one directory may stand in several of them;
// its zones are loaded and kept once.

import { isDeepStrictEqual } from 'node:util'
import type { ServerBlock } from './config.ts'

/** For each block the number of its zones: that of the first block with the same files and directories. */
export function spacesOf(blocks: readonly ServerBlock[]): number[] {
  return blocks.map(({ files, autos }) =>
    blocks.findIndex((first) => isDeepStrictEqual([first.files, first.autos], [files, autos])),
  )
}
