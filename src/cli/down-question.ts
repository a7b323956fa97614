// What `down` asks before it does anything: the question says what would be lost.

/** `stop`: processes only. `keep-data`: the machines, but not their data. `purge`: everything. */
export type DownMode = 'stop' | 'keep-data' | 'purge'

export function downQuestion(stack: string, machines: number, mode: DownMode): string {
  const all = machines === 1 ? 'its machine' : `its ${machines} machines`
  return {
    stop: `Everything stays on disk, and "up" starts it again. Stop ${stack} and ${all}?`,
    'keep-data': `Data, passwords and certificates stay, and "up" builds on them. Stop ${stack} and remove ${all}?`,
    purge: `Data, passwords and certificates are lost for good. Stop ${stack} and remove ${all} with everything?`,
  }[mode]
}
