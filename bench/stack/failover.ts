// How long nobody can write when the primary is gone, and how far the name of the primary is behind: a writer inserts all
// the time, by that name.

import { switchover } from '../../src/clusters/postgres/cluster.ts'
import type { MemberLab } from '../../test/support/member-lab.ts'
import { PrimaryNames } from '../../test/support/primary-names.ts'
import { type Outcome, PrimaryWriter } from '../../test/support/primary-writer.ts'
import { untilRecovered } from '../../test/support/recovery.ts'
import { until } from '../../test/support/until.ts'

export interface Failover {
  readonly what: string
  readonly samples: FailoverSample[]
}

interface FailoverSample {
  readonly gapSeconds: number
  /** Until everything was ready again; of a lost machine, from when it was back. */
  readonly recoverySeconds: number
  /** Of each election and server: from the new leader's key in etcd to the answer. */
  readonly nameDelaysMs: readonly number[]
}

export interface FailoverResult {
  readonly failovers: readonly Failover[]
  readonly outcome: Outcome
}

type Deed = (stage: { readonly lab: MemberLab; readonly writer: PrimaryWriter }) => Promise<void>

const WAIT_MS = 120_000
const NEVER = new AbortController().signal

const DEEDS: Readonly<Record<string, Deed>> = {
  'switchover, as planned': async ({ lab }) => switchover(await lab.patroni(), await lab.primary(), NEVER),
  'all processes of the primary killed, and started again': async ({ lab }) =>
    lab.signalMachine(await lab.primary(), 'SIGKILL'),
  'the machine of the primary lost': async ({ lab, writer }) => {
    const machine = await lab.primary()
    await lab.withoutMachine(machine, async () => {
      const lostAt = performance.now()
      await until('writes go on', () => writer.lastAt > lostAt + WRITE_IN_FLIGHT_MS, WAIT_MS)
    })
  },
}

/** What was under way when the machine was lost may still be acknowledged. */
const WRITE_IN_FLIGHT_MS = 1000

export async function failoverRounds(
  lab: MemberLab,
  rounds: number,
  progress: (line: string) => void,
): Promise<FailoverResult> {
  const writer = new PrimaryWriter(lab)
  const names = new PrimaryNames(lab)
  await Promise.all([writer.start(), names.start()])
  const failovers: Failover[] = Object.keys(DEEDS).map((what) => ({ what, samples: [] }))
  try {
    for (let round = 1; round <= rounds; round++)
      for (const { what, samples } of failovers) {
        await untilRecovered(lab, writer)
        const beganAt = performance.now()
        await DEEDS[what]({ lab, writer })
        const doneAt = performance.now()
        await untilRecovered(lab, writer)
        const nameDelaysMs = names.electionsSince(beganAt).flatMap(({ delays }) => [...delays.values()])
        const gapSeconds = writer.gapSince(beganAt)
        samples.push({ gapSeconds, recoverySeconds: (performance.now() - doneAt) / 1000, nameDelaysMs })
        progress(`failover ${round}/${rounds}: ${what}: no writes for ${gapSeconds.toFixed(1)} s`)
      }
  } finally {
    await Promise.all([writer.stop(), names.stop()])
  }
  return { failovers, outcome: await writer.outcome() }
}
