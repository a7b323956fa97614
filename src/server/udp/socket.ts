// Opening UDP sockets, one per worker and address: SO_REUSEPORT lets the kernel spread clients over them. Because
// that option would also let a second server take half of the queries unnoticed, the address is probed without it first.

import { getSystemErrorName } from 'node:util'
import { cannotListen } from '../cannot-listen.ts'
import { AF_INET, AF_INET6 } from '../../lib/libc.ts'
import type { Libc } from '../../lib/libc.ts'
import { encodeSockaddr, SOCKADDR_BYTES } from './sockaddr.ts'

const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000
const SOL_SOCKET = 1
const SO_RCVBUF = 8
const SO_SNDBUF = 7
const SO_REUSEPORT = 15
const SO_RCVBUFFORCE = 33
const SO_SNDBUFFORCE = 32
const IPPROTO_IP = 0
const IP_PKTINFO = 8
const IP_MTU_DISCOVER = 10
const IP_PMTUDISC_DO = 2
const IPPROTO_IPV6 = 41
const IPV6_V6ONLY = 26
const IPV6_MTU_DISCOVER = 23
const IPV6_RECVPKTINFO = 49
const BUFFER_BYTES = 4 << 20
const SHUT_RD = 0
const DISCARD_PORT = 9
const NEVER_FRAGMENTED = 1232

export interface UdpAddress {
  readonly host: string
  readonly port: number
  readonly scope: number
}

/** Fails when somebody else has the address. */
export function probeUdp(libc: Libc, address: UdpAddress): void {
  libc.close(open(libc, address, false))
}

/** A bound socket's file descriptor. `mostBytes` is the longest answer it will have to send. */
export function openUdp(libc: Libc, address: UdpAddress, mostBytes: number): number {
  const fd = open(libc, address, true)
  // Short answers are never fragmented (RFC 9715): fragments can be forged. Where the way is narrower than that, the
  // kernel learns it, refuses with EMSGSIZE, and the client gets TC (worker.ts). It is cheaper, too.
  if (mostBytes <= NEVER_FRAGMENTED) {
    set(libc, fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    if (address.host.includes(':')) set(libc, fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IP_PMTUDISC_DO)
  }
  // Bursts wait in the socket. Root may exceed the system's limit; others get what the limit allows.
  for (const [force, plain] of [
    [SO_RCVBUFFORCE, SO_RCVBUF],
    [SO_SNDBUFFORCE, SO_SNDBUF],
  ])
    if (set(libc, fd, SOL_SOCKET, force, BUFFER_BYTES) < 0) set(libc, fd, SOL_SOCKET, plain, BUFFER_BYTES)
  return fd
}

/**
 * Takes a socket out of the group that shares the address: connected to nobody in particular it gets no new packets,
 * while those it already has can still be read and answered.
 */
export function retireUdp(libc: Libc, fd: number): void {
  const own = new Uint8Array(SOCKADDR_BYTES)
  const length = Uint8Array.of(own.length, 0, 0, 0)
  if (libc.getsockname(fd, own, length) < 0) return
  const v6 = own[0] === AF_INET6
  const nobody = encodeSockaddr(v6 ? '::1' : '127.0.0.1', DISCARD_PORT)
  libc.connect(fd, nobody, nobody.length)
}

/** Wakes a worker that is blocked on the socket; reports ENOTCONN and works all the same. */
export function wakeUdp(libc: Libc, fd: number): void {
  libc.shutdown(fd, SHUT_RD)
}

function open(libc: Libc, address: UdpAddress, shared: boolean): number {
  const name = encodeSockaddr(address.host, address.port, address.scope)
  const v6 = name.length > 16
  const fd = libc.socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM_CLOEXEC, 0)
  if (fd < 0) throw failure(address, libc.errno())
  if (shared) set(libc, fd, SOL_SOCKET, SO_REUSEPORT, 1)
  if (v6) set(libc, fd, IPPROTO_IPV6, IPV6_V6ONLY, 1)
  // On a wildcard address the answer must leave from the address the question came to.
  if (address.host === '0.0.0.0') set(libc, fd, IPPROTO_IP, IP_PKTINFO, 1)
  if (address.host === '::') set(libc, fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1)
  if (libc.bind(fd, name, name.length) < 0) {
    const errno = libc.errno()
    libc.close(fd)
    throw failure(address, errno)
  }
  return fd
}

function set(libc: Libc, fd: number, level: number, option: number, value: number): number {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return libc.setsockopt(fd, level, option, bytes, 4)
}

function failure({ host, port }: UdpAddress, errno: number): Error {
  return cannotListen('UDP', host, port, getSystemErrorName(-errno))
}
