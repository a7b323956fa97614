// Which blocks serve the same zones. A block is made for every port, so one directory or etcd prefix may stand in
// several of them; its zones are loaded and kept once.

import { isDeepStrictEqual } from 'node:util'
import type { EtcdConnection, ServerBlock } from './config.ts'
import { etcdOptions } from './etcd-connection.ts'

/** For each block the number of its zones: that of the first block with the same sources. */
export function spacesOf(blocks: readonly ServerBlock[]): number[] {
  const sources = blocks.map(comparable)
  return sources.map((each) => sources.findIndex((first) => isDeepStrictEqual(first, each)))
}

/** Passwords are hidden from comparison too, unless they are asked for. */
function comparable(block: ServerBlock): unknown {
  const { files, autos, skydns, etcdZones, patronis, kubevirts, kubernetes, ptr } = block
  const inEtcd = [...skydns, ...etcdZones, ...patronis].map(revealed)
  return [files, autos, ptr, inEtcd, kubevirts, kubernetes]
}

function revealed(source: { readonly etcd: EtcdConnection }): unknown {
  return { ...source, etcd: etcdOptions(source.etcd) }
}
