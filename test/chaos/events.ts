// What is done to the cluster, the network and the servers. Events that need different things run at the same time.

import { closeSync, fstatSync, ftruncateSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { EtcdClient } from '../../src/etcd/client.ts'
import type { Random } from '../fuzz/random.ts'
import type { EtcdCluster } from '../support/etcd-cluster.ts'
import type { Journal } from './journal.ts'
import type { ChaosEvent } from './schedule.ts'
import type { Shown, Subject } from './subject.ts'

export interface Scene {
  readonly cluster: EtcdCluster
  readonly client: EtcdClient
  readonly random: Random
  readonly journal: Journal
  readonly subjects: readonly Subject[]
  /** What every server had to show when it was started first. */
  readonly first: Shown
  /** How long an outage of all members lasts. */
  readonly outageMs: number
  /** Events come to an end early. */
  readonly signal: AbortSignal
}

const MEMBERS = [0, 1, 2]

export const EVENTS = {
  'member killed': {
    needs: ['members'],
    async run(scene) {
      await killMember(scene, scene.random.below(3), scene.random.between(200, 3000))
    },
  },
  'leader killed': {
    needs: ['members'],
    async run(scene) {
      await killMember(scene, await scene.cluster.leader(), scene.random.between(200, 3000))
    },
  },
  'members killed in turn': {
    needs: ['members'],
    async run(scene) {
      for (const member of scene.random.shuffle([...MEMBERS])) await killMember(scene, member, 300)
    },
  },
  'all members down': {
    needs: ['members'],
    run: (scene) => withoutEtcd(scene, () => sleep(scene.outageMs, scene.signal)),
  },
  'member paused': {
    needs: ['members'],
    async run(scene) {
      await pauseMembers(scene, [scene.random.below(3)], scene.random.between(500, 9000))
    },
  },
  'majority paused': {
    needs: ['members'],
    async run(scene) {
      const back = cutOff(scene.subjects)
      await pauseMembers(scene, scene.random.shuffle([...MEMBERS]).slice(1), scene.random.between(1500, 6000))
      back()
    },
  },
  'connections cut': {
    needs: ['network'],
    async run(scene) {
      const { proxies } = proxied(scene)
      for (let left = scene.random.between(1, 8); left > 0; left--) {
        for (const proxy of proxies) proxy.cut()
        await sleep(scene.random.between(5, 600), scene.signal)
      }
    },
  },
  'connections refused': {
    needs: ['network'],
    run: (scene) => apart(scene, 'refusing', () => sleep(scene.random.between(500, 8000), scene.signal)),
  },
  'network black-holed': {
    needs: ['network'],
    run: (scene) => apart(scene, 'blackHole', () => sleep(scene.random.between(500, 12_000), scene.signal)),
  },
  'connections half open': {
    // Members that are killed behind a black hole: nobody tells the server, not even when the network is back.
    needs: ['members', 'network'],
    async run(scene) {
      const { proxies } = proxied(scene)
      const member = scene.random.below(3)
      proxies[member].blackHole = true
      await scene.cluster.kill(member)
      await delay(100)
      proxies[member].blackHole = false
      await scene.cluster.restart(member)
      await scene.cluster.healthy()
    },
  },
  'history compacted': {
    needs: ['network'],
    async run(scene) {
      await apart(scene, 'refusing', async () => {
        await sleep(scene.random.between(500, 4000), scene.signal)
        const { revision } = await steadily(() => scene.client.range({ key: Buffer.from('/fence/0') }))
        await steadily(() => scene.cluster.etcdctl('compact', String(revision)))
      })
    },
  },
  'users changed': {
    // Tokens given before that are no longer good.
    needs: ['members'],
    async run({ client, random }) {
      const name = `user${random.next()}`
      await steadily(() => client.userAdd(name, 'secret'))
      await steadily(() => client.userDelete(name))
    },
  },
  'server killed': {
    needs: ['servers'],
    async run(scene) {
      const subject = scene.random.pick(scene.subjects)
      await subject.start(await killServer(subject))
    },
  },
  'server killed without etcd': {
    needs: ['members', 'servers'],
    run: (scene) =>
      withoutEtcd(scene, async () => {
        const subject = scene.random.pick(scene.subjects)
        await subject.start(await killServer(subject))
        await sleep(scene.outageMs / 4, scene.signal)
      }),
  },
  'server killed without etcd, state cut short': {
    needs: ['members', 'servers'],
    run: (scene) =>
      withoutEtcd(scene, async () => {
        const subject = scene.random.pick(scene.subjects)
        await killServer(subject)
        for (const file of cutShort(subject, scene.random)) scene.journal.note(`cut short: ${file}`)
        await subject.start(scene.first)
        await sleep(scene.outageMs / 4, scene.signal)
      }),
  },
} satisfies Readonly<Record<string, ChaosEvent<Scene, 'members' | 'network' | 'servers'>>>

export type EventName = keyof typeof EVENTS

async function killMember({ cluster, signal }: Scene, member: number, downMs: number): Promise<void> {
  await cluster.kill(member)
  await sleep(downMs, signal)
  await cluster.restart(member)
  await cluster.healthy()
}

async function withoutEtcd({ cluster, subjects }: Scene, run: () => Promise<void>): Promise<void> {
  const back = cutOff(subjects)
  await Promise.all(MEMBERS.map((member) => cluster.kill(member)))
  try {
    await run()
  } finally {
    for (const member of MEMBERS) await cluster.restart(member)
    await cluster.healthy()
    back()
  }
}

async function pauseMembers({ cluster, signal }: Scene, members: readonly number[], pausedMs: number): Promise<void> {
  for (const member of members) cluster.pause(member)
  await sleep(pausedMs, signal)
  for (const member of members) cluster.resume(member)
  await cluster.healthy()
}

/** Runs while a server, or each of them, cannot reach any member. */
async function apart(scene: Scene, how: 'refusing' | 'blackHole', run: () => Promise<void>): Promise<void> {
  const { subjects, proxies } = proxied(scene)
  const back = cutOff(subjects)
  for (const proxy of proxies) proxy[how] = true
  if (how === 'refusing') for (const proxy of proxies) proxy.cut()
  try {
    await run()
  } finally {
    for (const proxy of proxies) proxy[how] = false
    back()
  }
}

function cutOff(subjects: readonly Subject[]): () => void {
  const backs = subjects.map((subject) => subject.cutOff())
  return () => {
    for (const back of backs) back()
  }
}

/** One of the servers behind proxies, or all of them. */
function proxied({ subjects, random }: Scene) {
  const all = subjects.filter(({ proxies }) => proxies.length > 0)
  const chosen = random.chance(0.3) ? all : [random.pick(all)]
  return { subjects: chosen, proxies: chosen.flatMap(({ proxies }) => proxies) }
}

/** What it has to show after its restart: what it showed a moment before its end. */
async function killServer(subject: Subject): Promise<Shown> {
  const shown = subject.shown()
  await delay(200)
  await subject.kill()
  return shown
}

/** Takes a part of the last frame away, as a crash may, where that is not the only batch; says from which files. */
function cutShort({ stateDirectory }: Subject, random: Random): string[] {
  const names = readdirSync(stateDirectory).filter((name) => name.endsWith('.snapshot') && !name.startsWith('serials'))
  return names.filter((name) => {
    const fd = openSync(join(stateDirectory, name), 'r+')
    try {
      const { size } = fstatSync(fd)
      const frames = framesOf(fd, size)
      const last = frames.at(-1)
      if (last === undefined || last.batch === frames[0].batch) return false
      ftruncateSync(fd, random.between(last.at, size - 1))
      return true
    } finally {
      closeSync(fd)
    }
  })
}

/** A frame has 16 bytes of header, with the payload's length in the second word; the payload begins with its batch. */
function framesOf(fd: number, size: number): { at: number; batch: number }[] {
  const frames: { at: number; batch: number }[] = []
  const head = Buffer.alloc(20)
  for (let at = 0; at < size; at += 16 + head.readUInt32LE(4)) {
    readSync(fd, head, 0, head.length, at)
    frames.push({ at, batch: head.readUInt32LE(16) })
  }
  return frames
}

async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined)
}

/** Members come and go meanwhile. */
async function steadily<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = 300; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0) throw error
      await delay(300)
    }
  }
}
