// Values of options that every benchmark has: words out of a list, and whole numbers.

export function chosen<T extends string>(
  flag: string,
  given: string | undefined,
  all: readonly T[],
  usual = all,
): readonly T[] {
  if (given === undefined) return usual
  const words = given.split(',')
  const unknown = words.find((word) => !all.some((each) => each === word))
  if (unknown !== undefined)
    throw new RangeError(`Cannot use --${flag} "${unknown}": not known; one of ${all.join(', ')} is wanted`)
  return all.filter((each) => words.includes(each))
}

export function positive(flag: string, given: string | undefined, usual: number): number {
  const number = given === undefined ? usual : Number(given)
  if (!(Number.isInteger(number) && number > 0))
    throw new RangeError(`Cannot use --${flag} "${given}": expected a whole number above 0`)
  return number
}
