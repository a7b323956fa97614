// The list-append check with the faults that once left a member behind for good, always the same; `npm run chaos:postgres` is
// the long one.

import { expect, test } from 'vitest'
import { runCampaign } from '../chaos/postgres/campaign.ts'

test('members whose pg_rewind is cut short come back without help, and nothing acknowledged is lost', async () => {
  const lines: string[] = []
  const { acknowledged, violations, summary, kept } = await runCampaign({
    seed: 11,
    seconds: 0,
    order: [
      'source killed during pg_rewind',
      'target killed during pg_rewind',
      'source killed during pg_rewind',
      'Patroni of the primary stopped',
    ],
    say: (line) => lines.push(line),
    // It ends what it has started; a test that is given up would not.
    signal: AbortSignal.timeout(900_000),
  })
  expect(violations, `${[...lines, ...summary].join('\n')}\nlogs: ${kept}`).toEqual([])
  expect(lines.filter((line) => line.includes('pg_rewind runs at')).length, lines.join('\n')).toBeGreaterThan(0)
  expect(acknowledged).toBeGreaterThan(1000)
}, 1_800_000)
