// The handful of libc calls that Node does not offer: batches of datagrams with one system call, and giving freed
// memory back to the system. Loaded once per thread through koffi; where that fails (another platform, a missing
// prebuilt binary) the caller does without.
// Struct layouts are those of 64-bit Linux; x86-64 and arm64 agree.

import { createRequire } from 'node:module'

export interface Libc {
  socket(domain: number, type: number, protocol: number): number
  setsockopt(fd: number, level: number, option: number, value: Buffer, length: number): number
  bind(fd: number, address: Uint8Array, length: number): number
  connect(fd: number, address: Uint8Array, length: number): number
  getsockname(fd: number, address: Uint8Array, length: Uint8Array): number
  shutdown(fd: number, how: number): number
  close(fd: number): number
  poll(fds: Uint8Array, count: number, timeoutMs: number): number
  /** Pointers are plain numbers, taken from `address`. */
  recvmmsg(fd: number, messages: number, count: number, flags: number, timeout: number): number
  sendmmsg(fd: number, messages: number, count: number, flags: number): number
  address(buffer: ArrayBuffer): number
  errno(): number
  /** `argument` is an int. */
  fcntl(fd: number, command: number, argument: number): number
  /** Only glibc has it. */
  malloc_trim: ((pad: number) => number) | undefined
}

export const AF_INET = 2
export const AF_INET6 = 10
export const ERRNO = { EINTR: 4, EAGAIN: 11, EMSGSIZE: 90 } as const

/** Undefined, with the reason passed to `report`, where libc cannot be called. */
export function loadLibc(report: (reason: string) => void): Libc | undefined {
  if (process.platform !== 'linux' || (process.arch !== 'x64' && process.arch !== 'arm64')) {
    report(`batched UDP is for Linux on x64 and arm64, this is ${process.platform} on ${process.arch}`)
    return undefined
  }
  try {
    // koffi is CommonJS and optional: require() can fail, a static import could not.
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
    const libc = koffi.load(null)
    const fcntl = libc.func('int fcntl(int, int, ...)')
    return {
      socket: libc.func('int socket(int, int, int)'),
      setsockopt: libc.func('int setsockopt(int, int, int, uint8_t *, unsigned int)'),
      bind: libc.func('int bind(int, uint8_t *, unsigned int)'),
      connect: libc.func('int connect(int, uint8_t *, unsigned int)'),
      getsockname: libc.func('int getsockname(int, _Inout_ uint8_t *, _Inout_ uint8_t *)'),
      shutdown: libc.func('int shutdown(int, int)'),
      close: libc.func('int close(int)'),
      poll: libc.func('int poll(_Inout_ uint8_t *, unsigned long, int)'),
      recvmmsg: libc.func('int recvmmsg(int, uintptr_t, unsigned int, int, uintptr_t)'),
      sendmmsg: libc.func('int sendmmsg(int, uintptr_t, unsigned int, int)'),
      address: (buffer) => Number(koffi.address(buffer)),
      errno: () => koffi.errno(),
      fcntl: (fd, command, argument) => fcntl(fd, command, 'int', argument) as number,
      malloc_trim: optional(() => libc.func('int malloc_trim(size_t)')),
    }
  } catch (thrown) {
    report(`koffi cannot be loaded: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    return undefined
  }
}

function optional<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch {
    return undefined
  }
}
