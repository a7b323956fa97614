// The check that types with a digest share: a known digest type has a known length, an unknown one any.

/** A check of the digest at `digestAt`, whose type is the byte at `typeAt`. */
export function digestLength(typeAt: number, digestAt: number, lengths: Readonly<Record<number, number>>) {
  return (rdata: Uint8Array, end: number): string | undefined => {
    const wanted = lengths[rdata[typeAt]]
    const found = end - digestAt
    if (wanted === undefined || wanted === found) return undefined
    return `expected a digest of ${wanted} bytes for digest type ${rdata[typeAt]}, found ${found}`
  }
}
