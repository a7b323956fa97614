// What is done to the API server, the network, the etcd of the records and the programs. Events that need different things
// run at the same time.

import { setTimeout as delay } from 'node:timers/promises'
import type { ChaosEvent, Staged } from '../schedule.ts'
import type { ApiProxy, Verdict } from './api-proxy.ts'
import type { DnsOutput } from './dns-output.ts'
import type { Program } from './program.ts'
import { LEASE, ROLE, RULES, type Stage } from './stage.ts'

export interface Scene extends Staged, Stage {}

type Need = 'api' | 'network' | 'records' | 'replicas' | 'servers' | 'zone'

/** A holder may be followed by another after 15 seconds. */
const BEYOND_LEASE_MS = [17_000, 22_000] as const
const GONE = { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410, message: 'too old resource version' }
const FAILED = { kind: 'Status', status: 'Failure', code: 500, message: 'etcdserver: request timed out' }

export const EVENTS = {
  'API server killed': {
    needs: ['api'],
    async run({ cluster, random, signal }) {
      await cluster.kill()
      await sleep(random.between(100, 6000), signal)
      await cluster.restart()
    },
  },
  'API server terminated': {
    needs: ['api'],
    async run({ cluster }) {
      await cluster.terminate()
      await cluster.restart()
    },
  },
  'API server paused': {
    needs: ['api'],
    async run({ cluster, random, signal }) {
      cluster.pause()
      await sleep(random.between(500, 14_000), signal)
      cluster.resume()
    },
  },
  'history compacted': {
    // The API server forgets as well: it goes on from its own memory as long as it lives.
    needs: ['api', 'network'],
    async run(scene) {
      const { cluster, proxies, random, signal } = scene
      await apart(proxies, async () => {
        await sleep(random.between(500, 3000), signal)
        await cluster.kill()
        const revision = /"revision":(\d+)/u.exec(await cluster.etcd.etcdctl('get', 'x', '-w', 'json'))?.[1] ?? ''
        await cluster.etcd.etcdctl('compact', revision)
        await cluster.restart()
      })
    },
  },
  'permissions taken away': {
    needs: ['api', 'network', 'replicas', 'zone', 'servers'],
    async run(scene) {
      const { proxies, random, signal, zonePublisher, replicas, served } = scene
      await permit(scene, [])
      for (const proxy of proxies) proxy.cut()
      await sleep(random.between(500, 2000), signal)
      if (random.chance(0.5)) await restart(zonePublisher)
      if (random.chance(0.5)) await restart(random.pick(replicas))
      if (random.chance(0.5)) await restartServer(served)
      await sleep(random.between(500, 12_000), signal)
      await permit(scene, RULES)
    },
  },
  'connections cut': {
    needs: ['network'],
    async run(scene) {
      const { random, signal } = scene
      const proxies = some(scene)
      for (let left = random.between(1, 8); left > 0; left--) {
        for (const proxy of proxies) proxy.cut()
        await sleep(random.between(5, 600), signal)
      }
    },
  },
  'watches cut within an event': {
    needs: ['network'],
    async run(scene) {
      const proxies = some(scene)
      for (let left = scene.random.between(1, 6); left > 0; left--) {
        for (const proxy of proxies) proxy.tearWatches()
        await sleep(scene.random.between(100, 1500), scene.signal)
      }
    },
  },
  'connections refused': {
    needs: ['network'],
    run: (scene) => apart(some(scene), () => sleep(scene.random.between(300, 8000), scene.signal)),
  },
  'API server silent': {
    needs: ['network'],
    async run(scene) {
      const proxies = some(scene)
      for (const proxy of proxies) proxy.fallSilent()
      await sleep(scene.random.between(500, 20_000), scene.signal)
      for (const proxy of proxies) proxy.revive()
    },
  },
  'watches stalled': {
    needs: ['network'],
    async run(scene) {
      const proxies = some(scene)
      for (const proxy of proxies) proxy.stallWatches()
      await sleep(scene.random.between(500, 25_000), scene.signal)
      for (const proxy of proxies) proxy.revive()
    },
  },
  'API server slow': {
    needs: ['network'],
    async run(scene) {
      const proxies = some(scene)
      const delayMs = scene.random.between(20, 900)
      for (const proxy of proxies) proxy.delayMs = delayMs
      if (scene.random.chance(0.5)) for (const proxy of proxies) proxy.cut()
      await sleep(scene.random.between(1000, 10_000), scene.signal)
      for (const proxy of proxies) proxy.delayMs = 0
    },
  },
  'history gone': {
    needs: ['network'],
    async run(scene) {
      const inStream: Verdict = { status: 200, body: { type: 'ERROR', object: GONE } }
      const verdict = scene.random.chance(0.5) ? inStream : { status: 410, body: GONE }
      await withVerdict(scene, some(scene), (url) => (url.searchParams.has('watch') ? verdict : 'pass'))
    },
  },
  'second page of lists fails': {
    needs: ['network', 'servers', 'replicas'],
    async run(scene) {
      const { random, replicas, served } = scene
      const proxies = random.chance(0.5) ? scene.proxies : some(scene)
      const verdicts: Verdict[] = ['cut', 'half', { status: 500, body: FAILED }, { status: 410, body: GONE }]
      const verdict = random.pick(verdicts)
      // Who was away lists anew.
      await apart(proxies, () => sleep(random.between(200, 800), scene.signal))
      await withVerdict(
        scene,
        proxies,
        (url) => (url.searchParams.has('continue') ? verdict : 'pass'),
        async () => {
          if (random.chance(0.5)) await restart(random.pick(replicas))
          if (random.chance(0.5)) await restartServer(served)
        },
      )
    },
  },
  'etcd of the records killed': {
    needs: ['records'],
    async run({ records, random, signal }) {
      await records.kill(0)
      await sleep(random.between(100, 8000), signal)
      await records.restart(0)
      await records.healthy()
    },
  },
  'etcd of the records paused': {
    needs: ['records'],
    async run({ records, random, signal }) {
      records.pause(0)
      await sleep(random.between(500, 12_000), signal)
      records.resume(0)
      await records.healthy()
    },
  },
  'leader killed': {
    needs: ['replicas'],
    async run(scene) {
      const leader = await leaderOf(scene)
      await leader.kill()
      await sleep(scene.random.between(0, 18_000), scene.signal)
      await leader.start()
    },
  },
  'leader terminated': {
    needs: ['replicas'],
    async run(scene) {
      const leader = await leaderOf(scene)
      await leader.terminate()
      await sleep(scene.random.between(0, 3000), scene.signal)
      await leader.start()
    },
  },
  'leader paused beyond its lease': {
    needs: ['replicas'],
    async run(scene) {
      const leader = await leaderOf(scene)
      leader.pause()
      await sleep(scene.random.between(...BEYOND_LEASE_MS), scene.signal)
      leader.resume()
    },
  },
  'leader paused while etcd is, beyond its lease': {
    // So it stands still in the middle of a write.
    needs: ['replicas', 'records'],
    async run(scene) {
      const { records, random, signal } = scene
      const leader = await leaderOf(scene)
      records.pause(0)
      await sleep(random.between(200, 3000), signal)
      leader.pause()
      await sleep(random.between(100, 2000), signal)
      records.resume(0)
      await sleep(random.between(...BEYOND_LEASE_MS), signal)
      leader.resume()
    },
  },
  'both replicas killed': {
    needs: ['replicas'],
    async run({ replicas, random, signal }) {
      await Promise.all(replicas.map((replica) => replica.kill()))
      await sleep(random.between(0, 3000), signal)
      await Promise.all(replicas.map((replica) => replica.start()))
    },
  },
  'name server killed': {
    needs: ['servers'],
    run: ({ random, served, answered }) => restartServer(random.pick([served, answered])),
  },
  'name server killed without API server': {
    needs: ['servers', 'network'],
    run: ({ random, signal, served, proxies }) =>
      apart(proxies, async () => {
        await sleep(random.between(0, 500), signal)
        await restartServer(served)
        await sleep(random.between(500, 8000), signal)
      }),
  },
  'zone publisher killed': {
    needs: ['zone', 'network'],
    async run({ zonePublisher, random, signal, proxies }) {
      if (random.chance(0.5)) return restart(zonePublisher)
      return apart(proxies, async () => {
        await restart(zonePublisher)
        await sleep(random.between(500, 8000), signal)
      })
    },
  },
} satisfies Readonly<Record<string, ChaosEvent<Scene, Need>>>

export type EventName = keyof typeof EVENTS

async function restart(program: Program): Promise<void> {
  await program.kill()
  await program.start()
}

/** It has to show what it showed a moment before its end. */
async function restartServer({ output, program }: DnsOutput): Promise<void> {
  const memory = output.memory()
  await delay(200)
  await program.kill()
  output.forget(memory)
  await program.start()
}

/** Runs while these refuse connections. */
async function apart(proxies: readonly ApiProxy[], run: () => Promise<void>): Promise<void> {
  for (const proxy of proxies) {
    proxy.refusing = true
    proxy.cut()
  }
  try {
    await run()
  } finally {
    for (const proxy of proxies) proxy.refusing = false
  }
}

async function withVerdict(
  { random, signal }: Scene,
  proxies: readonly ApiProxy[],
  judge: (url: URL) => Verdict,
  run = async () => {},
): Promise<void> {
  for (const proxy of proxies) proxy.onRequest = judge
  try {
    for (const proxy of proxies) proxy.cut()
    await run()
    await sleep(random.between(300, 6000), signal)
  } finally {
    for (const proxy of proxies) proxy.onRequest = () => 'pass'
  }
}

/** One way to the API server, or all. */
function some({ proxies, random }: Scene): readonly ApiProxy[] {
  return random.chance(0.3) ? proxies : [random.pick(proxies)]
}

async function permit({ cluster }: Scene, rules: object): Promise<void> {
  await cluster.request('PATCH', `/apis/rbac.authorization.k8s.io/v1/clusterroles/${ROLE}`, { rules })
}

/** One of them where nobody can say. */
async function leaderOf({ cluster, replicas }: Scene): Promise<Program> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${LEASE}`
  const lease = await cluster
    .request<{ spec: { holderIdentity?: string } }>('GET', path)
    .catch(() => ({ spec: { holderIdentity: '' } }))
  const { holderIdentity = '' } = lease.spec
  return replicas.find(({ name }) => holderIdentity.startsWith(`${name}_`)) ?? replicas[0]
}

async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined)
}
