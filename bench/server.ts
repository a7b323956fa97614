// Brings one server up on a zone directory and waits until it serves all of it: it answers for a sample of the zones,
// and its CPU has come to rest, since some load on in the background after the first answer.

import { mkdtemp } from 'node:fs/promises'
import { Resolver } from 'node:dns/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Contestant } from './peers.ts'
import type { RunningServer, Workplace } from './processes.ts'
import { cpuSeconds, treeCpu } from './proc.ts'
import type { ZoneSet } from './zones.ts'

export interface ServedZones {
  readonly server: RunningServer
  readonly port: number
  /** From the start to the right answer for the last zone asked. */
  readonly wallSeconds: number
  readonly cpuSeconds: number
}

const PROBED_ZONES = 100
const START_LIMIT_MS = 300_000
const POLL_MS = 20
const REST_MS = 500

export async function serve(place: Workplace, who: Contestant, zones: ZoneSet, workers: number): Promise<ServedZones> {
  const directory = await mkdtemp(join(place.directory, `${who.name}-`))
  const port = await freePort()
  const command = await who.peer.prepare(who.program, { zones, directory, port, workers })
  const started = performance.now()
  const server = place.start(command, coreList(workers), join(directory, 'output'))
  await untilAnswering(server, who, port, sampleNames(zones.names))
  const wallSeconds = (performance.now() - started) / 1000
  await untilAtRest(server.pid)
  return { server, port, wallSeconds, cpuSeconds: cpuSeconds(treeCpu(server.pid)) }
}

export const coreList = (workers: number): string => (workers === 1 ? '0' : `0-${workers - 1}`)

/** Evenly spread, first and last included: servers load in the order of the file, of names, or of a hash. */
function sampleNames(names: readonly string[]): string[] {
  const step = Math.max(1, (names.length - 1) / (PROBED_ZONES - 1))
  const sample = new Set<string>()
  for (let at = 0; at < names.length; at += step) sample.add(names[Math.round(at)])
  return [...sample, names[names.length - 1]]
}

async function untilAnswering(server: RunningServer, who: Contestant, port: number, names: string[]): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS
  for (const name of names) {
    while (!(await answers(port, name))) {
      if (server.ended)
        throw new Error(`Cannot start ${who.peer.title}: it ended at once; it said:\n${server.lastWords()}`)
      if (Date.now() > deadline) {
        throw new Error(
          `Cannot wait for ${who.peer.title}: no answer for "${name}" yet; it said:\n${server.lastWords()}`,
        )
      }
      await sleep(POLL_MS)
    }
  }
}

async function answers(port: number, name: string): Promise<boolean> {
  const resolver = new Resolver({ timeout: 500, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  return resolver.resolveSoa(name).then(
    () => true,
    () => false,
  )
}

export async function untilAtRest(pid: number): Promise<void> {
  for (let before = -1, now = cpuSeconds(treeCpu(pid)); now - before > 0.02; ) {
    before = now
    await sleep(REST_MS)
    now = cpuSeconds(treeCpu(pid))
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const listener = createServer()
    listener.once('error', reject)
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address()
      listener.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
