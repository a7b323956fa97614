// The check that old telephone and network numbers share: decimal digits, and enough of them.

export function digitsProblem(
  rdata: Uint8Array,
  from: number,
  end: number,
  minimum: number,
  noun: string,
): string | undefined {
  const digits = rdata.subarray(from, end)
  if (digits.length >= minimum && digits.every((byte) => byte >= 0x30 && byte <= 0x39)) return undefined
  return `expected ${noun} of at least ${minimum} decimal digits`
}
