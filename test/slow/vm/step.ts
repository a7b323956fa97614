// A step that takes a while: how long it took is told with its name.

export async function step(sentence: string, work: () => Promise<void>): Promise<void> {
  const start = performance.now()
  await work()
  console.log(`${((performance.now() - start) / 1000).toFixed(1).padStart(7)} s  ${sentence}`)
}
