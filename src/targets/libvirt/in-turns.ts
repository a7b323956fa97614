// The same for many, a few at the same time: each is a process of ours, and work for its hypervisor.

const AT_ONCE = 8

/** The results in the order of what they are of. */
export async function inTurns<From, To>(all: readonly From[], work: (each: From) => Promise<To>): Promise<To[]> {
  const results: To[] = []
  const waiting = all.entries()
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const [index, each] of waiting) results[index] = await work(each)
  })
  await Promise.all(workers)
  return results
}
