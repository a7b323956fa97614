// From server blocks to sockets: every address and port once, with the blocks that share it.

import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { suggestion } from '../lib/closest.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { ServerBlock } from './config.ts'

export interface Listener {
  readonly host: string
  readonly port: number
  /** Interface number of a link-local address, else 0. */
  readonly scope: number
  /** Indexes of the blocks served here. */
  readonly blocks: readonly number[]
}

interface HostAddress {
  readonly host: string
  readonly scope: number
}

/** `eachAddress`: sockets cannot tell which address was asked, so every address of the host gets its own. */
export function listenersOf(blocks: readonly ServerBlock[], eachAddress = false): Listener[] {
  const listeners = new Map<string, { address: HostAddress; port: number; blocks: number[] }>()
  for (const [index, block] of blocks.entries()) {
    for (const address of addressesOf(block, eachAddress)) {
      const key = `${address.host}%${address.scope} ${block.port}`
      const listener = listeners.get(key)
      if (listener === undefined) listeners.set(key, { address, port: block.port, blocks: [index] })
      else if (!listener.blocks.includes(index)) listener.blocks.push(index)
    }
  }
  return [...listeners.values()].map(({ address, port, blocks: indexes }) => ({ ...address, port, blocks: indexes }))
}

function addressesOf(block: ServerBlock, eachAddress: boolean): HostAddress[] {
  const interfaces = networkInterfaces()
  const hasIpv6 = Object.values(interfaces).some((list) => list?.some(({ family }) => family === 'IPv6'))
  const wildcards = ['0.0.0.0', ...(hasIpv6 ? ['::'] : [])]
  const wanted = block.bind.length === 0 ? wildcards : block.bind
  const named = eachAddress ? wanted.flatMap(addressesOfHost) : wanted
  const excepted = new Set((block.bindExcept ?? []).flatMap((name) => expand(name, block).map(({ host }) => host)))
  return named.flatMap((name) => expand(name, block)).filter(({ host }) => !excepted.has(host))
}

/** A wildcard stands for the addresses of its family; link-local ones want an interface and are left out. */
function addressesOfHost(name: string): string[] {
  if (name !== '0.0.0.0' && name !== '::') return [name]
  const family = name === '::' ? 'IPv6' : 'IPv4'
  return Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter((each) => each.family === family && !each.scopeid).map(({ address }) => address),
  )
}

/** An address is itself; the name of an interface stands for its addresses. */
function expand(name: string, block: ServerBlock): HostAddress[] {
  const interfaces = networkInterfaces()
  const [plain, zone] = name.split('%')
  if (isIP(plain) !== 0) {
    const scope = zone === undefined ? 0 : (interfaces[zone]?.find(({ family }) => family === 'IPv6')?.scopeid ?? 0)
    return [{ host: plain, scope }]
  }
  const addresses = interfaces[name]
  if (addresses === undefined)
    throw new HoldfastError(
      'CannotListen',
      `Cannot bind "${name}" (${block.at}): neither an address nor an interface of this host; ${suggestion(name, Object.keys(interfaces))}`,
    )
  return addresses.map(({ address, scopeid }) => ({ host: address, scope: scopeid ?? 0 }))
}
