// WKS: the well-known services of a host (RFC 1035 3.4.2; obsolete). Services are ports or the names below.

import { ExpectedError, type Tokens } from '../tokens.ts'
import type { Field, RdataBuffer, RdataType } from './field.ts'
import { ipv4 } from './fields/address.ts'
import { mnemonic, readDecimal } from './fields/number.ts'

const PROTOCOLS = { ICMP: 1, TCP: 6, UDP: 17 } as const

const SERVICES: Readonly<Record<string, number>> = {
  ...{ echo: 7, discard: 9, systat: 11, daytime: 13, netstat: 15, qotd: 17, chargen: 19, 'ftp-data': 20, ftp: 21 },
  ...{ ssh: 22, telnet: 23, smtp: 25, time: 37, nameserver: 42, whois: 43, domain: 53, bootps: 67, bootpc: 68 },
  ...{ tftp: 69, gopher: 70, finger: 79, http: 80, www: 80, kerberos: 88, hostnames: 101, pop2: 109, pop3: 110 },
  ...{ 'pop-3': 110, sunrpc: 111, auth: 113, uucp: 540, nntp: 119, ntp: 123, imap: 143, imap2: 143, snmp: 161 },
  ...{ irc: 194, https: 443, exec: 512, login: 513, shell: 514, printer: 515, syslog: 514, talk: 517, route: 520 },
}

const services: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    const start = out.length
    for (; tokens.next < tokens.count; tokens.next++) {
      const port = readService(tokens, tokens.next)
      const at = start + (port >> 3)
      while (out.length <= at) out.bytes[out.length++] = 0
      out.bytes[at] |= 0x80 >> (port & 7)
    }
  },
  measure: (rdata, at, end) => (at === end || (at < end && end - at <= 8192 && rdata[end - 1] !== 0) ? end : -1),
  format(rdata: Uint8Array, at: number, next: number): string {
    const ports: number[] = []
    for (let port = 0; port < (next - at) * 8; port++) {
      if (rdata[at + (port >> 3)] & (0x80 >> (port & 7))) ports.push(port)
    }
    return ports.join(' ')
  },
}

function readService(tokens: Tokens, index: number): number {
  const port = readDecimal(tokens.bytes, tokens.starts[index], tokens.ends[index], 0xffff)
  const name = tokens.text(index).toLowerCase()
  if (port >= 0) return port
  if (Object.hasOwn(SERVICES, name)) return SERVICES[name]
  throw new ExpectedError(index, 'expected a service: a port, 0 to 65535, or a well-known name such as smtp')
}

export const wks: RdataType = {
  fields: [ipv4('an IPv4 address'), mnemonic(1, 'a protocol', PROTOCOLS, 'as-number'), services],
}
