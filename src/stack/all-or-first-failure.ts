// Several works at the same time, under one lock: when one fails, the others come to their end before anybody is told, so that nothing
// goes on behind the back of who releases the lock. Promise.all would not wait.

export async function allOrFirstFailure(works: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
