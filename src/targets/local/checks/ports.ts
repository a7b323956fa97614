// Whether the machines' services can listen where they shall: addresses of this host, ports we may have, and nobody
// else's. What the stack itself listens on is no conflict.

import { type Place, tryPlaces } from './bind.ts'
import { type Finding, ok, problem } from '../../finding.ts'
import type { HostMachine } from './host-machine.ts'
import { findListener, readListeners, socketOwners } from './listeners.ts'
import { describeProcess } from './processes.ts'

interface Wanted extends Place {
  readonly machine: string
  readonly purpose: string
}

/** Listed in a message; of more, only the number. */
const SHOWN = 3

export async function checkAddresses(machines: readonly HostMachine[]): Promise<Finding> {
  const addresses = [...new Set(machines.map(({ address }) => address))]
  const codes = await tryPlaces(addresses.map((address) => ({ protocol: 'udp', address, port: 0 })))
  const unusable = addresses.filter((_, index) => codes[index] !== undefined)
  const [first = '', ...more] = addresses
  if (unusable.length === 0) return ok('addresses', more.length === 0 ? first : `${first} and ${more.length} more`)
  const isLoopback = unusable.some((address) => address.startsWith('127.'))
  return problem(
    'addresses',
    `${several(unusable)}: no address of this host`,
    isLoopback ? 'sudo ip link set lo up' : 'take addresses of this host',
  )
}

/** `own`: ids of the stack's processes. */
export async function checkPorts(
  machines: readonly HostMachine[],
  own: ReadonlySet<number>,
  isRoot: boolean,
): Promise<readonly Finding[]> {
  const wanted: readonly Wanted[] = machines.flatMap(({ name, address, ports }) =>
    ports.map(({ port, protocol, purpose }) => ({ machine: name, address, port, protocol, purpose })),
  )
  const codes = await tryPlaces(wanted)
  const failed = (code: string) => wanted.filter((_, index) => codes[index] === code)
  const findings = [...conflicts(failed('EADDRINUSE'), own), ...refusals(failed('EACCES'), isRoot)]
  return findings.length > 0 || wanted.length === 0 ? findings : [ok('ports', `${wanted.length}, all free`)]
}

/** One finding for each process that is in the way. */
function conflicts(taken: readonly Wanted[], own: ReadonlySet<number>): readonly Finding[] {
  if (taken.length === 0) return []
  const listeners = readListeners()
  const held = taken.map((place) => ({ place, listener: findListener(listeners, place) }))
  const owners = socketOwners(new Set(held.flatMap(({ listener }) => listener?.inode ?? [])), own)
  const foreign = held
    .map(({ place, listener }) => ({ place, uid: listener?.uid, pid: owners.get(listener?.inode ?? '') }))
    .filter(({ pid }) => pid === undefined || !own.has(pid))
  return [...Map.groupBy(foreign, ({ uid, pid }) => describeHolder(uid, pid))].map(([holder, each]) =>
    problem(
      'ports',
      `${several(each.map(({ place }) => describe(place)))}: in use by ${holder}`,
      'stop it, or have it listen on addresses of its own only; another stack of ours needs another `network`',
    ),
  )
}

function describeHolder(uid: number | undefined, pid: number | undefined): string {
  if (pid !== undefined) return `process ${pid} (${describeProcess(pid)})`
  return uid === undefined ? 'another process' : `a process of user ${uid}, which is hidden from us`
}

function refusals(refused: readonly Wanted[], isRoot: boolean): readonly Finding[] {
  if (refused.length === 0) return []
  const lowest = Math.min(...refused.map(({ port }) => port))
  const places = several(refused.map(describe))
  if (isRoot)
    return [problem('ports', `${places}: not allowed even to root`, 'give the container CAP_NET_BIND_SERVICE')]
  const fix = `sudo sysctl net.ipv4.ip_unprivileged_port_start=${lowest}, or choose another port, or run as root`
  return [problem('ports', `${places}: ports as low as this are for root`, fix)]
}

function describe({ machine, address, port, protocol, purpose }: Wanted): string {
  return `${address}:${port}/${protocol} (${purpose} of ${machine})`
}

function several(all: readonly string[]): string {
  const more = all.length - SHOWN
  return more > 0 ? `${all.slice(0, SHOWN).join(', ')} and ${more} more` : all.join(', ')
}
