// A replica in a process of its own, which can be stopped as it is. It writes down when it leads:
//   node kube-leader.ts <kubeconfig> <identity> <journal>
// Lines are `start`, `beat` and `stop`, with identity and time; a beat stands for a write.

import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { KubeClient } from '../../src/kube/client.ts'
import { openConnection } from '../../src/kube/connection.ts'
import { lead } from '../../src/kube/leader.ts'

const [kubeconfig, identity, journal] = process.argv.slice(2)
const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort())

const write = (word: string) => appendFileSync(journal, `${word} ${identity} ${Date.now()}\n`)
const client = new KubeClient(openConnection({ kubeconfig }, {}))

await lead({
  client,
  namespace: 'default',
  name: 'chair',
  identity,
  signal: stopping.signal,
  timing: { leaseSeconds: 3, renewSeconds: 2, retrySeconds: 0.2 },
  onStartedLeading: async (signal, leads) => {
    write('start')
    while (!signal.aborted) {
      if (leads()) write('beat')
      await sleep(5, undefined, { signal }).catch(() => {})
    }
  },
  onStoppedLeading: () => write('stop'),
  onState: () => {},
})
client.close()
