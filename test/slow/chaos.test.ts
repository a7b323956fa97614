// A short campaign of chaos with every test run, always with the same events; `npm run chaos` is the long one.

import { expect, test } from 'vitest'
import { runCampaign } from '../chaos/campaign.ts'

test('servers go on answering what was written, whatever happens to etcd, the network and themselves', async () => {
  const lines: string[] = []
  const { changes, answers, violations, kept } = await runCampaign({
    seed: 1,
    seconds: 0,
    outageMs: 4000,
    pauseMs: [200, 1000],
    order: [
      'history compacted',
      'leader killed',
      'connections refused',
      'server killed without etcd, state cut short',
      'network black-holed',
      'member paused',
      'connections cut',
      'server killed without etcd',
      'connections half open',
      'users changed',
    ],
    say: (line) => lines.push(line),
  })
  expect(violations, `${lines.join('\n')}\nlogs: ${kept}`).toEqual([])
  expect(Math.min(changes, answers)).toBeGreaterThan(0)
}, 600_000)
