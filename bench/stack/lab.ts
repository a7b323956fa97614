// A lab for a measurement, of which nothing is left afterwards, also when somebody has lost patience.

import { MemberLab } from '../../test/support/member-lab.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Not up yet. */
export async function withLab<T>(use: (lab: MemberLab) => Promise<T>): Promise<T> {
  const lab = new MemberLab('bench')
  const leave = () => {
    void lab.close().finally(() => process.exit(130))
  }
  for (const signal of SIGNALS) process.once(signal, leave)
  try {
    return await use(lab)
  } finally {
    for (const signal of SIGNALS) process.off(signal, leave)
    await lab.close()
  }
}
