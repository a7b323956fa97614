// What `down` asks before it does anything: the question says what would be lost.

import type { DownHow } from '../stack/handle.ts'

export function downQuestion(stack: string, machines: number, how: DownHow): string {
  const all = machines === 1 ? 'its machine' : `its ${machines} machines`
  return {
    stop: `Everything stays on disk, and "up" starts it again. Stop ${stack} and ${all}?`,
    'keep-data': `Data, passwords and certificates stay, and "up" builds on them. Stop ${stack} and remove ${all}?`,
    purge: `Data, passwords and certificates are lost for good. Stop ${stack} and remove ${all} with everything?`,
  }[how]
}
