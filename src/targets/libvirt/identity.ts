// Names, ids and MAC addresses of machines, made from the names of stack and machine alone: whoever makes a machine anew,
// wherever, makes it with the same ones, and there is no list of them to lose.

import { createHash } from 'node:crypto'

/** RFC 9562, the nil UUID: stands for one that is given when something is made, where it is only shown. */
export const UUID_TO_COME = '00000000-0000-0000-0000-000000000000'

export function domainName(stack: string, machine: string): string {
  return `${stack}-${machine}`
}

/** RFC 9562 version 8: a digest of our own choice. */
export function uuidOf(stack: string, machine: string): string {
  const bytes = digest('uuid', stack, machine)
  bytes[6] = (bytes[6] & 0x0f) | 0x80
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5')
}

/** In the range that QEMU and libvirt take for themselves. */
export function macOf(stack: string, machine: string, index: number): string {
  const [a, b, c] = digest('mac', stack, machine, String(index))
  return `52:54:00:${[a, b, c].map((byte) => byte.toString(16).padStart(2, '0')).join(':')}`
}

/** Names have no line ends, so no two lists of words give the same text. */
function digest(...words: readonly string[]): Buffer {
  return createHash('sha256')
    .update(['holdfast', ...words].join('\n'))
    .digest()
}
