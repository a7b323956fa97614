// No question may have two blocks to answer it: a zone may stand once per address and port. A block without
// `bind` is on every address and so overlaps with each block for the same zone and port.

import type { ServerBlock } from '../config.ts'

/** `message` for each zone that is served twice, with the later block. */
export function findOverlaps(blocks: readonly ServerBlock[]): { block: ServerBlock; message: string }[] {
  const owners = new Map<string, { block: ServerBlock; address: string }[]>()
  const found: { block: ServerBlock; message: string }[] = []
  for (const block of blocks) {
    for (const zone of block.zones) {
      const key = `${zone} ${block.port}`
      const taken = owners.get(key) ?? []
      owners.set(key, taken)
      for (const address of block.bind.length === 0 ? [''] : block.bind) {
        const owner = taken.find((each) => each.address === address || each.address === '' || address === '')
        if (owner !== undefined) {
          const where = address === '' ? `port ${block.port}` : `${address} port ${block.port}`
          const both = owner.block.at === block.at ? `twice at ${block.at}` : `at ${owner.block.at} and at ${block.at}`
          found.push({ block, message: `zone "${zone}" on ${where} stands ${both}; expected one place` })
          break
        }
        taken.push({ block, address })
      }
    }
  }
  return found
}
