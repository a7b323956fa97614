// Who may take one more of a limited number of places. A client with many may have as many as are left over, apart from a
// quarter that is kept for clients with few. So one client alone can use three eighths of the places, and however many
// clients take all they can, another one with little to ask still finds a place.

const FEW = 10

/** Whether a client that holds `held` of the `taken` places may have another, of `most` in all. */
export function mayTakePlace(held: number, taken: number, most: number): boolean {
  const free = most - taken
  return held < FEW ? free > 0 : held < free - (most >> 2)
}
