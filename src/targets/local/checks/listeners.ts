// Who has a port: the kernel's tables of sockets (proc_net(5)) say which socket and whose, the open files of
// processes say which process.

import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Port } from '../../../machine/machine.ts'
import { allProcesses } from '../supervisor/process-table.ts'
import { hostText } from './host-text.ts'

export interface Listener {
  readonly protocol: Port['protocol']
  /** As in the table: the words of an address in the order of this machine's memory, in hexadecimal digits. */
  readonly address: string
  readonly port: number
  readonly uid: number
  readonly inode: string
}

const TABLES = [
  ['tcp', 'proc/net/tcp'],
  ['tcp', 'proc/net/tcp6'],
  ['udp', 'proc/net/udp'],
  ['udp', 'proc/net/udp6'],
] as const
const TCP_LISTEN = '0A'
/** ::ffff:0:0/96 */
const IPV4_IN_IPV6 = '0000000000000000FFFF0000'

export function readListeners(): readonly Listener[] {
  return TABLES.flatMap(([protocol, path]) =>
    hostText('/', path)
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        // Slot, local address, remote address, state, queues, timer, retransmissions, user, timeout, inode.
        const [, local = '', , state, , , , uid, , inode = '0'] = line.trim().split(/\s+/u)
        if (local === '' || (protocol === 'tcp' && state !== TCP_LISTEN)) return []
        const [address, port] = local.split(':')
        return [{ protocol, address, port: Number.parseInt(port, 16), uid: Number(uid), inode }]
      }),
  )
}

/** What keeps others from the port at an IPv4 address: who has it there, or at all addresses. */
export function findListener(
  listeners: readonly Listener[],
  wanted: { readonly protocol: Port['protocol']; readonly address: string; readonly port: number },
): Listener | undefined {
  const same = listeners.filter(({ protocol, port }) => protocol === wanted.protocol && port === wanted.port)
  const exact = wanted.address
    .split('.')
    .toReversed()
    .map((octet) => Number(octet).toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
  return (
    same.find(({ address }) => address === exact || address === IPV4_IN_IPV6 + exact) ??
    same.find(({ address }) => /^0+$/u.test(address))
  )
}

/** By the inodes of sockets, the processes that have them open, as far as we may see. `first`: looked at before all others. */
export function socketOwners(inodes: ReadonlySet<string>, first: Iterable<number>): ReadonlyMap<string, number> {
  const owners = new Map<string, number>()
  for (const pid of new Set([...first, ...allProcesses().map((each) => each.pid)])) {
    if (owners.size === inodes.size) break
    for (const inode of socketsOf(pid)) if (inodes.has(inode) && !owners.has(inode)) owners.set(inode, pid)
  }
  return owners
}

function socketsOf(pid: number): readonly string[] {
  const directory = `/proc/${pid}/fd`
  try {
    const files = readdirSync(directory).map((name) => readlinkIfThere(join(directory, name)))
    return files.flatMap((file) => /^socket:\[(\d+)\]$/u.exec(file)?.[1] ?? [])
  } catch {
    // It has ended, or is not for us to see.
    return []
  }
}

/** Files are closed while we look. */
function readlinkIfThere(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
