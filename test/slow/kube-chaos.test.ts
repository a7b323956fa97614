// A short campaign of chaos around a Kubernetes API with every test run, always with the same events; `npm run chaos:kube`
// is the long one.

import { expect, test } from 'vitest'
import { runCampaign } from '../chaos/kube/campaign.ts'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'

describeWithKubernetes('names from Kubernetes', () => {
  test('stay right whatever happens to the API server, the network, etcd and the programs', async () => {
    const lines: string[] = []
    const { changes, checks, violations, kept } = await runCampaign({
      seed: 4,
      seconds: 0,
      ownership: 'txt',
      pauseMs: [100, 500],
      stillMs: 1000,
      order: [
        'second page of lists fails',
        'etcd of the records killed',
        'watches cut within an event',
        'leader terminated',
        'name server killed without API server',
        'history gone',
      ],
      say: (line) => lines.push(line),
      // It ends what it has started; a test that is given up would not.
      signal: AbortSignal.timeout(150_000),
    })
    expect(violations, `${lines.join('\n')}\nlogs: ${kept}`).toEqual([])
    expect(changes).toBeGreaterThan(550)
    expect(checks).toBeGreaterThan(2000)
  }, 600_000)
})
