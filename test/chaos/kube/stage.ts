// Everything of a run: an API server, an etcd for records, and the programs between them, each with a proxy of its own in
// front of the API server.
//
//   API server ─┬─ proxy ─ holdfast dns (kubevirt, kubernetes) ───────────────▶ served
//               ├─ proxy ─ holdfast publish kubernetes ─┬─▶ etcd (stored) ─ holdfast dns (skydns) ─▶ answered
//               ├─ proxy ─ holdfast publish kubernetes ─┘
//               └─ proxy ─ holdfast publish kubevirt ─▶ db.vm (file)

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openConnection } from '../../../src/kube/connection.ts'
import { EtcdCluster } from '../../support/etcd-cluster.ts'
import { KubeCluster } from '../../support/kube-cluster.ts'
import { loopbackNetwork } from '../../support/loopback.ts'
import { freePort } from '../../support/ports.ts'
import type { Journal } from '../journal.ts'
import { ApiProxy } from './api-proxy.ts'
import { DnsOutput } from './dns-output.ts'
import { EtcdOutput } from './etcd-output.ts'
import { FileOutput } from './file-output.ts'
import { History } from './history.ts'
import { Output } from './output.ts'
import { Program, type ProgramOptions } from './program.ts'
import { VM_ZONE, ZONE } from './world.ts'

const HOST = `${loopbackNetwork()}.0.1`
/** It ends at last, also with connections left. */
const FLAGS = ['--request-timeout=8s']
const ACCOUNT = 'names'
export const ROLE = `default-${ACCOUNT}`
export const LEASE = 'names'
/** Records are compared as a whole that often. */
export const INTERVAL_SECONDS = 10

const READ = ['list', 'watch']
/** What the programs may do. */
export const RULES = [
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs: READ },
  { apiGroups: [''], resources: ['services', 'pods', 'nodes'], verbs: READ },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: READ },
  { apiGroups: ['kubevirt.io'], resources: ['virtualmachineinstances'], verbs: READ },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
]

export interface Stage {
  readonly cluster: KubeCluster
  /** For records. */
  readonly records: EtcdCluster
  readonly history: History
  readonly served: DnsOutput
  readonly answered: DnsOutput
  readonly stored: EtcdOutput
  readonly file: FileOutput
  /** Two of them, of which one writes. */
  readonly replicas: readonly Program[]
  readonly zonePublisher: Program
  readonly programs: readonly Program[]
  readonly proxies: readonly ApiProxy[]
  readonly directory: string
}

/** How it is known which keys are ours: in their values, or by TXT records as ExternalDNS has them. */
export type Ownership = 'value' | 'txt'

/** Programs are not started yet. */
export async function setStage(journal: Journal, ownership: Ownership): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-kube-chaos-'))
  const [cluster, records] = await Promise.all([
    KubeCluster.start({ host: HOST, flags: FLAGS }),
    EtcdCluster.start({ members: 1 }),
  ])
  await cluster.applyCrds('kubevirt')
  const account = await cluster.serviceAccount('default', ACCOUNT, RULES)
  const history = new History()
  const proxies: ApiProxy[] = []
  const asker = async (options: Omit<ProgramOptions, 'directory' | 'journal' | 'proxy'>) => {
    const connection = openConnection({ kubeconfig: account }, {})
    const proxy = await ApiProxy.start(HOST, await connection.access())
    proxies.push(proxy)
    writeFileSync(join(directory, `${options.name}.kubeconfig`), kubeconfig(proxy.server))
    return new Program({ ...options, directory, journal, proxy })
  }
  const configured = (name: string, text: string) => {
    writeFileSync(join(directory, `${name}.yaml`), text)
    return [
      'dns',
      '--workers',
      '1',
      '--config',
      join(directory, `${name}.yaml`),
      '--state',
      join(directory, name, 'state'),
    ]
  }
  const [servedPort, answeredPort] = [await freePort(), await freePort()]
  const ready = /Listening on/u
  const servedYaml = servedSources(servedPort, join(directory, 'served.kubeconfig'))
  const served = await asker({ name: 'served', args: configured('served', servedYaml), ready })
  const answeredYaml = answeredSources(answeredPort, records.endpoints)
  const answered = new Program({
    name: 'answered',
    args: configured('answered', answeredYaml),
    ready,
    directory,
    journal,
  })
  const replicas = await Promise.all(
    ['replica-a', 'replica-b'].map(async (name) =>
      asker({
        name,
        args: [...publishArgs(ownership), `--kubeconfig=${join(directory, `${name}.kubeconfig`)}`],
        env: { ETCD_URLS: records.endpoints.join(','), POD_NAME: name },
      }),
    ),
  )
  const zones = join(directory, 'zones')
  mkdirSync(zones)
  const zoneKubeconfig = join(directory, 'zone.kubeconfig')
  const zonePublisher = await asker({
    name: 'zone',
    args: ['publish', 'kubevirt', '--directory', zones, '--kubeconfig', zoneKubeconfig],
  })
  const output = (name: string) => new Output(name, history, journal)
  return {
    ...{ cluster, records, history, proxies, directory, replicas, zonePublisher },
    served: new DnsOutput(output('served'), served, servedPort),
    answered: new DnsOutput(output('answered'), answered, answeredPort),
    stored: new EtcdOutput(output('stored'), records.options),
    file: new FileOutput(output('file'), join(zones, `db.${VM_ZONE}`), journal),
    programs: [served, answered, ...replicas, zonePublisher],
  }
}

/** Ends all processes; the logs, by name. */
export async function strike({ programs, proxies, cluster, records, directory }: Stage): Promise<Map<string, string>> {
  await Promise.all(programs.map((program) => program.kill()))
  await Promise.all(proxies.map((proxy) => proxy.stop()))
  const logs = new Map(programs.map(({ name, output }) => [`${name}.log`, output]))
  logs.set('kube-apiserver.log', readFileSync(join(cluster.directory, 'kube-apiserver.log'), 'utf8'))
  await Promise.all([cluster.stop(), records.stop()])
  rmSync(directory, { recursive: true, force: true })
  return logs
}

function publishArgs(ownership: Ownership): string[] {
  const common = ['publish', 'kubernetes', '--source=ingress', '--source=service', `--leader-election=default/${LEASE}`]
  const registry = ownership === 'txt' ? ['--registry=txt'] : []
  return [...common, `--domain-filter=${ZONE}`, `--interval=${INTERVAL_SECONDS}s`, ...registry]
}

function servedSources(port: number, file: string): string {
  return `sources:
  - { type: kubevirt, kubeconfig: ${file}, name_server_ip: [192.0.2.53] }
  - { type: kubernetes, kubeconfig: ${file}, from: [ingress, service], zones: [${ZONE}], ttl: 5s }
serve: { listen: [127.0.0.1:${port}] }
`
}

function answeredSources(port: number, endpoints: readonly string[]): string {
  return `etcd: { endpoints: [${endpoints.join(', ')}] }
sources:
  - { type: skydns, zones: [${ZONE}] }
serve: { listen: [127.0.0.1:${port}] }
`
}

function kubeconfig(server: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'chaos' },
    contexts: [{ name: 'chaos', context: { cluster: 'chaos', user: 'chaos', namespace: 'default' } }],
    clusters: [{ name: 'chaos', cluster: { server } }],
    users: [{ name: 'chaos', user: {} }],
  })
}
