// Numbers of DNSSEC algorithms and the mnemonics zone files may use for them (IANA registry, RFC 8624).

export const SECURITY_ALGORITHMS = {
  RSAMD5: 1,
  DH: 2,
  DSA: 3,
  ECC: 4,
  RSASHA1: 5,
  NSEC3DSA: 6,
  NSEC3RSASHA1: 7,
  RSASHA256: 8,
  RSASHA512: 10,
  ECCGOST: 12,
  ECDSAP256SHA256: 13,
  ECDSA256: 13,
  ECDSAP384SHA384: 14,
  ECDSA384: 14,
  ED25519: 15,
  ED448: 16,
  INDIRECT: 252,
  PRIVATEDNS: 253,
  PRIVATEOID: 254,
} as const
