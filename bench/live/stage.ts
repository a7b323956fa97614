// Brings a subject up with its data in etcd, and waits until it serves them.

import { Resolver } from 'node:dns/promises'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command, RunningServer, Workplace } from '../processes.ts'
import { freePort } from '../server.ts'
import type { Etcd } from './etcd.ts'
import type { Programs, Subject } from './subjects.ts'

export interface Served {
  readonly subject: Subject
  readonly port: number
  /** The name server itself. */
  readonly server: RunningServer
  stop(): Promise<void>
}

const START_LIMIT_MS = 300_000
const POLL_MS = 10

export interface Stage {
  readonly place: Workplace
  readonly etcd: Etcd
  readonly programs: Programs
  readonly workers: number
  /** As taskset takes them. */
  readonly cores: string
}

/** `name` has an address when everything is there. */
export async function serve(stage: Stage, subject: Subject, name: string, directory?: string): Promise<Served> {
  const { place, etcd, programs, workers, cores } = stage
  const home = directory ?? (await mkdtemp(join(place.directory, `${subject.id}-`)))
  const port = await freePort()
  const commands = await subject.prepare(programs, { endpoint: etcd.endpoint, directory: home, port, workers })
  const start = (command: Command, i: number) => place.start(command, cores, join(home, `output-${i}`))
  const running = commands.map(start)
  await untilAnswered(running[0], subject.title, port, name)
  const stop = async () => {
    for (const server of running) await server.stop()
  }
  return { subject, port, server: running[0], stop }
}

async function untilAnswered(server: RunningServer, title: string, port: number, name: string): Promise<void> {
  const resolver = new Resolver({ timeout: 500, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  for (const deadline = Date.now() + START_LIMIT_MS; ; await sleep(POLL_MS)) {
    const answered = await resolver.resolve4(name).then(
      () => true,
      () => false,
    )
    if (answered) return
    if (server.ended || Date.now() > deadline)
      throw new Error(`Cannot start ${title}: no answer for "${name}"; it said:\n${server.lastWords()}`)
  }
}
