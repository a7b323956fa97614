// What is compared: our server with names straight from the API server, our publishers, ExternalDNS and KubeSecondaryDNS,
// the latter four with the name servers they are made for. Whoever makes names of objects is the worker, whose cost is
// looked at; a name server that is another process is up before.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeCluster } from '../../test/support/kube-cluster.ts'
import { KubeSecondaryDns } from '../../test/support/kube-secondary-dns.ts'
import type { Etcd } from '../live/etcd.ts'
import { commandName, processTree } from '../proc.ts'
import type { Command, Workplace } from '../processes.ts'
import { freePort } from '../server.ts'
import { INGRESS_ZONE, type Kind } from './objects.ts'

export interface World {
  readonly place: Workplace
  readonly cluster: KubeCluster
  /** Where publishers write to; the API server has another one. */
  readonly records: Etcd
  readonly programs: Programs
}

/** Undefined is what is not there. */
export interface Programs {
  readonly holdfast: string
  readonly coredns: string | undefined
  readonly externalDns: string | undefined
  readonly kubeSecondaryDns: string | undefined
}

export interface Subject {
  readonly id: SubjectId
  readonly title: string
  readonly kind: Kind
  /** For the document. */
  readonly settings: string
  readonly needs: readonly (keyof Programs)[]
  /** A change is seen after up to this time; undefined: at once. */
  readonly slowSeconds?: number
  open(world: World, home: string): Promise<Stand>
}

/** The place of a subject, with the name server where there is one apart from the worker. */
export interface Stand {
  /** Of the name server. */
  readonly port: number
  /** Of one that is set up as it is shipped, where that would hide what the worker takes. */
  readonly shippedPort?: number
  readonly serverPid: number | undefined
  begin(): Promise<Worker>
  close(): Promise<void>
}

export interface Worker {
  readonly pid: number
  readonly ended: boolean
  lastWords(): string
  stop(): Promise<void>
}

/** As many as there are. */
export const ALL_CORES = '0-1023'
/** As KubeSecondaryDNS is shipped, and the least that CoreDNS takes. */
const RELOAD_SECONDS = { shipped: 45, least: 2 } as const

export const SUBJECT_IDS = [
  'ingress-served',
  'ingress-published',
  'external-dns-fast',
  'external-dns-events',
  'external-dns-default',
  'vmi-served',
  'vmi-file',
  'kube-secondary-dns',
] as const
export type SubjectId = (typeof SUBJECT_IDS)[number]

const EXTERNAL_DNS = {
  kind: 'ingress',
  needs: ['coredns', 'externalDns'],
} as const

export const SUBJECTS: readonly Subject[] = [
  {
    id: 'ingress-served',
    title: 'Holdfast, served directly',
    kind: 'ingress',
    settings: '`holdfast dns` with source `kubernetes` and a state directory',
    needs: [],
    open: (world, home) =>
      served(world, home, `type: kubernetes, from: [ingress], zones: [${INGRESS_ZONE}], ${kubeconfig(world)}`),
  },
  {
    id: 'ingress-published',
    title: 'Holdfast publish, etcd, Holdfast',
    kind: 'ingress',
    settings:
      '`holdfast publish kubernetes --source=ingress --provider=coredns`, and `holdfast dns` with source `skydns`',
    needs: [],
    async open(world, home) {
      const { holdfast } = world.programs
      const source = `type: skydns, zones: [${INGRESS_ZONE}], path: /ours`
      const server = await served(world, home, source)
      const nameServer = await server.begin()
      const metrics = `--metrics-address=127.0.0.1:${await freePort()}`
      const flags = ['publish', 'kubernetes', '--quiet', ...externalDnsFlags(world, '/ours/'), metrics]
      const command = { file: holdfast, args: flags, env: { ETCD_URLS: world.records.endpoint } }
      return {
        port: server.port,
        serverPid: nameServer.pid,
        begin: async () => begin(world, home, command),
        close: () => nameServer.stop(),
      }
    },
  },
  {
    ...EXTERNAL_DNS,
    id: 'external-dns-fast',
    title: 'ExternalDNS every second, etcd, CoreDNS',
    settings:
      '`external-dns --source=ingress --provider=coredns --events --min-event-sync-interval=1ms --interval=1s`, and `etcd` of CoreDNS',
    slowSeconds: 2,
    open: (world, home) =>
      externalDns(world, home, '/fast', ['--events', '--min-event-sync-interval=1ms', '--interval=1s']),
  },
  {
    ...EXTERNAL_DNS,
    id: 'external-dns-events',
    title: 'ExternalDNS with events, etcd, CoreDNS',
    settings: 'the same with `--events --min-event-sync-interval=1ms`',
    slowSeconds: 6,
    open: (world, home) => externalDns(world, home, '/events', ['--events', '--min-event-sync-interval=1ms']),
  },
  {
    ...EXTERNAL_DNS,
    id: 'external-dns-default',
    title: 'ExternalDNS as it comes, etcd, CoreDNS',
    settings: 'the same with neither',
    slowSeconds: 60,
    open: (world, home) => externalDns(world, home, '/default', []),
  },
  {
    id: 'vmi-served',
    title: 'Holdfast, served directly',
    kind: 'vmi',
    settings: '`holdfast dns` with source `kubevirt` and a state directory',
    needs: [],
    open: (world, home) => served(world, home, `type: kubevirt, ${kubeconfig(world)}`),
  },
  {
    id: 'vmi-file',
    title: 'Holdfast publish, file, CoreDNS',
    kind: 'vmi',
    settings: `\`holdfast publish kubevirt\`, and \`auto\` of CoreDNS with \`reload ${RELOAD_SECONDS.shipped}s\``,
    needs: ['coredns'],
    slowSeconds: RELOAD_SECONDS.shipped,
    async open(world, home) {
      const zones = join(home, 'zones')
      const server = await autoServer(world, home, zones)
      const args = ['publish', 'kubevirt', '--quiet', '--directory', zones, '--kubeconfig', world.cluster.kubeconfig]
      return { ...server, begin: async () => begin(world, home, { file: world.programs.holdfast, args }) }
    },
  },
  {
    id: 'kube-secondary-dns',
    title: 'KubeSecondaryDNS, file, CoreDNS',
    kind: 'vmi',
    settings: `KubeSecondaryDNS's own program, and \`auto\` of CoreDNS with \`reload ${RELOAD_SECONDS.shipped}s\`, as its manifest has it`,
    needs: ['coredns', 'kubeSecondaryDns'],
    slowSeconds: RELOAD_SECONDS.shipped,
    async open(world, home) {
      const server = await autoServer(world, home, KubeSecondaryDns.zonesIn(home))
      return { ...server, begin: () => kubeSecondaryDns(world, home) }
    },
  },
]

function kubeconfig({ cluster }: World): string {
  return `kubeconfig: ${cluster.kubeconfig}`
}

/** Ours with one source; it is worker and name server. */
async function served({ place, records, programs }: World, home: string, source: string): Promise<Stand> {
  const port = await freePort()
  const file = join(home, 'names.yaml')
  const text = `etcd: { endpoints: [${records.endpoint}] }
sources: [{ ${source} }]
serve: { listen: [127.0.0.1:${port}], state: ${join(home, 'state')} }
`
  await writeFile(file, text)
  const command = { file: programs.holdfast, args: ['dns', '--config', file, '--workers', '1'] }
  return {
    port,
    serverPid: undefined,
    begin: async () => place.start(command, ALL_CORES, join(home, 'server')),
    close: async () => {},
  }
}

function begin({ place }: World, home: string, command: Command): Worker {
  return place.start(command, ALL_CORES, join(home, 'worker'))
}

function externalDnsFlags({ cluster }: World, prefix: string): string[] {
  const what = ['--source=ingress', '--provider=coredns', `--coredns-prefix=${prefix}`]
  return [...what, '--policy=sync', '--txt-owner-id=bench', `--kubeconfig=${cluster.kubeconfig}`]
}

async function externalDns(world: World, home: string, path: string, more: readonly string[]): Promise<Stand> {
  const { records, programs } = world
  const server = await corednsServer(
    world,
    home,
    `etcd ${INGRESS_ZONE} {\n path ${path}\n endpoint ${records.endpoint}\n }`,
  )
  const metrics = `--metrics-address=127.0.0.1:${await freePort()}`
  const args = [...externalDnsFlags(world, `${path}/`), metrics, '--log-level=warning', ...more]
  const command = { file: programs.externalDns ?? '', args, env: { ETCD_URLS: records.endpoint } }
  return { ...server, begin: async () => begin(world, home, command) }
}

async function autoServer(world: World, home: string, zones: string): Promise<Omit<Stand, 'begin'>> {
  await mkdir(zones, { recursive: true })
  const auto = (seconds: number) => `auto {\n directory ${zones} db\\.(.*) {1}\n reload ${seconds}s\n }`
  const quick = await corednsServer(world, home, auto(RELOAD_SECONDS.least))
  const shipped = await corednsServer(world, home, auto(RELOAD_SECONDS.shipped))
  const close = async () => {
    await Promise.all([quick.close(), shipped.close()])
  }
  return { port: quick.port, shippedPort: shipped.port, serverPid: quick.serverPid, close }
}

async function corednsServer(world: World, home: string, directive: string): Promise<Omit<Stand, 'begin'>> {
  const port = await freePort()
  const file = join(home, `Corefile-${port}`)
  await writeFile(file, `.:${port} {\n bind 127.0.0.1\n ${directive}\n}\n`)
  const command = { file: world.programs.coredns ?? '', args: ['-quiet', '-conf', file] }
  const server = world.place.start(command, ALL_CORES, join(home, 'server'))
  return { port, serverPid: server.pid, close: () => server.stop() }
}

/** The process itself, without what makes room for it. */
async function kubeSecondaryDns({ cluster }: World, directory: string): Promise<Worker> {
  const program = KubeSecondaryDns.start(cluster, { directory })
  const find = () => processTree(program.pid).find((pid) => commandName(pid) === 'manager')
  for (let tries = 0; tries < 100 && find() === undefined; tries++) await sleep(10)
  return {
    pid: find() ?? program.pid,
    get ended() {
      return find() === undefined
    },
    lastWords: () => program.output.trimEnd().split('\n').slice(-5).join('\n'),
    stop: () => program.stop(),
  }
}
