// A timeout that is fair to what has already arrived: after this thread was busy for long, timers come before sockets,
// and an answer that is waiting to be read must not count as missing.

/** Runs once after the time, and after what is waiting has been read. Returns a function that calls it off. */
export function startTimeout(timeoutMs: number, run: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    immediate = setImmediate(run)
  }, timeoutMs)
  return () => {
    clearTimeout(timer)
    clearImmediate(immediate)
  }
}
