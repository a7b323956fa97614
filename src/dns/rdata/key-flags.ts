// Flags and protocols of keys, and the mnemonics zone files may use for them (RFC 2535 3.1.2, 3.1.3 and 7.1). KEY has
// all of them; of DNSKEY and CDNSKEY only ZONE and KSK mean something (RFC 4034 2.1.1).

import { flags, mnemonic } from './fields/number.ts'

const FLAGS: Readonly<Record<string, number>> = {
  NOCONF: 0x4000,
  NOAUTH: 0x8000,
  NOKEY: 0xc000,
  FLAG2: 0x2000,
  EXTEND: 0x1000,
  FLAG4: 0x0800,
  FLAG5: 0x0400,
  USER: 0,
  ZONE: 0x0100,
  HOST: 0x0200,
  NTYP3: 0x0300,
  FLAG8: 0x0080,
  FLAG9: 0x0040,
  FLAG10: 0x0020,
  FLAG11: 0x0010,
  KSK: 0x0001,
  ...Object.fromEntries(Array.from({ length: 16 }, (_, signatory) => [`SIG${signatory}`, signatory])),
}

const PROTOCOLS = { NONE: 0, TLS: 1, EMAIL: 2, DNSSEC: 3, IPSEC: 4, ALL: 255 } as const

export const keyFlags = flags('flags', FLAGS)

export const keyProtocol = mnemonic(1, 'a protocol', PROTOCOLS, 'as-number')
