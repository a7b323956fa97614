// `10.0.0.0/24` to `0.0.10.in-addr.arpa.`: the zones that hold exactly the addresses of a network. A prefix
// between two labels gives the several zones of the next label boundary (10.0.0.0/22 is four /24 zones).

import { isIPv4, isIPv6 } from 'node:net'

/** The reverse zones of a network in CIDR notation, or undefined when the text is none. */
export function reverseZones(text: string): string[] | undefined {
  const match = /^([0-9A-Fa-f:.]+)\/(\d{1,3})$/u.exec(text)
  if (match === null) return undefined
  const prefix = Number(match[2])
  if (isIPv4(match[1]) && prefix <= 32) return zonesOf(match[1].split('.').map(Number), prefix, 8, 10, 'in-addr.arpa.')
  if (isIPv6(match[1]) && prefix <= 128) return zonesOf(nibbles(match[1]), prefix, 4, 16, 'ip6.arpa.')
  return undefined
}

/** `digits` are the address in units of one label, `labelBits` wide each, most significant first. */
function zonesOf(digits: number[], prefix: number, labelBits: number, radix: number, suffix: string): string[] {
  const labels = Math.ceil(prefix / labelBits)
  const freeBits = labels * labelBits - prefix
  const fixed = digits.slice(0, labels)
  const last = fixed.pop()
  if (last === undefined) return [suffix]
  const first = (last >> freeBits) << freeBits
  return Array.from({ length: 1 << freeBits }, (_, index) => {
    const zone = [...fixed, first + index].map((digit) => digit.toString(radix)).reverse()
    return `${zone.join('.')}.${suffix}`
  })
}

function nibbles(address: string): number[] {
  const [head, tail] = address.split('::')
  const before = groups(head)
  const after = tail === undefined ? [] : groups(tail)
  const middle = new Array<number>(8 - before.length - after.length).fill(0)
  return [...before, ...middle, ...after].flatMap((group) => [
    group >> 12,
    (group >> 8) & 15,
    (group >> 4) & 15,
    group & 15,
  ])
}

/** 16-bit groups of one side of `::`; a dotted IPv4 tail counts as two. */
function groups(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a, b, c, d] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}
