// The servers of `npm run bench:live`: one etcd member, ours, and CoreDNS in the two ways our seeds use it.

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../src/etcd/client.ts'
import { coredns } from './peers/coredns.ts'
import { holdfast } from './peers/holdfast.ts'
import type { RunningServer, Workplace } from './processes.ts'
import { freePort } from './server.ts'

/** Everything may run on every core: delays matter here, and CPU is counted per process. */
const ANY_CORE = '0-1023'
export const ZONES_PREFIX = '/coredns/'
export const SKYDNS_ZONE = 'skydns.test'

export interface Etcd {
  readonly server: RunningServer
  readonly endpoint: string
  readonly client: EtcdClient
}

export interface Served {
  readonly server: RunningServer
  readonly port: number
}

export async function startEtcd(place: Workplace): Promise<Etcd> {
  const directory = await mkdtemp(join(place.directory, 'etcd-'))
  const endpoint = `http://127.0.0.1:${await freePort()}`
  const peer = `http://127.0.0.1:${await freePort()}`
  const args = ['--data-dir', join(directory, 'data'), '--listen-client-urls', endpoint, '--listen-peer-urls', peer]
  args.push('--advertise-client-urls', endpoint, '--initial-advertise-peer-urls', peer)
  args.push('--initial-cluster', `default=${peer}`, '--quota-backend-bytes', String(8 * 2 ** 30))
  const server = place.start({ file: 'etcd', args }, ANY_CORE, join(directory, 'output'))
  const client = new EtcdClient({ endpoints: [endpoint], requestTimeoutMs: 30_000 })
  await until('etcd answers', () => client.range({ key: Buffer.from('-') }).then(Boolean))
  return { server, endpoint, client }
}

/** `state` keeps the last good state between two starts. */
export async function startHoldfast(place: Workplace, endpoint: string, state?: string): Promise<Served> {
  const directory = await mkdtemp(join(place.directory, 'holdfast-'))
  const port = await freePort()
  const file = join(directory, 'names.yaml')
  await writeFile(
    file,
    `etcd: { endpoints: ["${endpoint}"] }
sources:
  - { type: etcd-zones, prefix: ${ZONES_PREFIX} }
  - { type: skydns, zones: [${SKYDNS_ZONE}] }
serve: { listen: ["127.0.0.1:${port}"], state: ${state ?? join(directory, 'state')} }
`,
  )
  const program = await holdfast.locate()
  if (program === undefined) throw new Error('Cannot find bin/holdfast')
  const args = ['dns', '--config', file, '--workers', '1']
  return { server: place.start({ file: program, args }, ANY_CORE, join(directory, 'output')), port }
}

/** CoreDNS with its etcd plugin, which asks etcd at every question. */
export async function startCorednsEtcd(place: Workplace, program: string, endpoint: string): Promise<Served> {
  return startCoredns(place, program, (port) => {
    return `.:${port} {\n  bind 127.0.0.1\n  etcd ${SKYDNS_ZONE} {\n    path /skydns\n    endpoint ${endpoint}\n  }\n}\n`
  })
}

/** CoreDNS that looks into a directory every three seconds, which our publisher fills from etcd. */
export async function startCorednsAuto(place: Workplace, program: string, endpoint: string): Promise<Served> {
  const directory = await mkdtemp(join(place.directory, 'published-'))
  const zones = join(directory, 'zones')
  await mkdir(zones)
  const publisher = await holdfast.locate()
  if (publisher === undefined) throw new Error('Cannot find bin/holdfast')
  const args = ['publish', 'zonefiles', '--endpoints', endpoint, '--prefix', ZONES_PREFIX, '--directory', zones]
  place.start({ file: publisher, args }, ANY_CORE, join(directory, 'output'))
  return startCoredns(place, program, (port) => {
    return `.:${port} {\n  bind 127.0.0.1\n  auto {\n    directory ${zones} (.*) {1}\n    reload 3s\n  }\n}\n`
  })
}

export async function findCoredns(): Promise<string | undefined> {
  return coredns.locate()
}

async function startCoredns(place: Workplace, program: string, corefile: (port: number) => string): Promise<Served> {
  const directory = await mkdtemp(join(place.directory, 'coredns-'))
  const port = await freePort()
  const file = join(directory, 'Corefile')
  await writeFile(file, corefile(port))
  const command = { file: program, args: ['-quiet', '-conf', file] }
  return { server: place.start(command, ANY_CORE, join(directory, 'output')), port }
}

export async function until(what: string, test: () => Promise<boolean>, limitMs = 300_000): Promise<void> {
  const deadline = performance.now() + limitMs
  while (!(await test().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`Cannot wait any longer until ${what}`)
    await sleep(20)
  }
}
