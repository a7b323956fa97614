// The name servers of a run, all with their state on disk: `yaml` with zones and SkyDNS through proxies, `corefile` with
// an etcd block through proxies, `exact` with direct connections.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EtcdCluster } from '../support/etcd-cluster.ts'
import { EtcdProxy } from '../support/etcd-proxy.ts'
import { freePort } from '../support/ports.ts'
import type { Journal } from './journal.ts'
import { Subject, type SubjectOptions } from './subject.ts'
import type { World } from './world.ts'

/** May read names and nothing else. */
export const READER = { username: 'dns', password: 'of-the-name-servers' } as const

export interface ServersContext {
  readonly cluster: EtcdCluster
  readonly world: World
  readonly journal: Journal
  /** Temporary. */
  readonly directory: string
}

export interface NameServers {
  readonly subjects: readonly Subject[]
  readonly proxies: readonly EtcdProxy[]
}

/** Not started yet. */
export async function nameServers(context: ServersContext): Promise<NameServers> {
  const { cluster, world } = context
  const forYaml = await Promise.all(cluster.endpoints.map((endpoint) => EtcdProxy.start(endpoint)))
  const forCorefile = await Promise.all(cluster.endpoints.map((endpoint) => EtcdProxy.start(endpoint)))
  const endpointsOf = (proxies: readonly EtcdProxy[]) => proxies.map(({ endpoint }) => endpoint)
  const subjects = [
    await fromYaml(context, { name: 'yaml', mode: 'compatible', endpoints: endpointsOf(forYaml), proxies: forYaml }),
    await subjectOf(context, { name: 'corefile', proxies: forCorefile }, (port, { directory, write }) => ({
      args: ['-conf', write('Corefile', corefile(port, endpointsOf(forCorefile), cluster.caFile)), '--state', 'state'],
      ...{ stateDirectory: join(directory, 'state'), mode: 'compatible', hasZones: false },
      pick: (random) => world.serviceQuestion(random, 'compatible'),
    })),
    await fromYaml(context, { name: 'exact', mode: 'exact', endpoints: cluster.endpoints, proxies: [] }),
  ]
  return { subjects, proxies: [...forYaml, ...forCorefile] }
}

interface YamlServer {
  readonly name: string
  readonly mode: 'compatible' | 'exact'
  readonly endpoints: readonly string[]
  readonly proxies: readonly EtcdProxy[]
}

function fromYaml(context: ServersContext, { mode, endpoints, ...server }: YamlServer): Promise<Subject> {
  const { world, cluster } = context
  return subjectOf(context, server, (port, { directory, write }) => {
    write('password', READER.password)
    return {
      args: ['--config', write('names.yaml', namesYaml({ port, mode, endpoints, caFile: cluster.caFile }))],
      ...{ stateDirectory: join(directory, 'state'), mode, hasZones: true },
      pick: (random) => (random.chance(0.5) ? world.zoneQuestion(random) : world.serviceQuestion(random, mode)),
    }
  })
}

interface Place {
  readonly directory: string
  readonly write: (name: string, text: string) => string
}

async function subjectOf(
  { journal, directory }: ServersContext,
  server: Pick<SubjectOptions, 'name' | 'proxies'>,
  rest: (port: number, place: Place) => Omit<SubjectOptions, 'name' | 'proxies' | 'port' | 'directory' | 'journal'>,
): Promise<Subject> {
  const port = await freePort()
  const own = join(directory, server.name)
  mkdirSync(own)
  const write = (name: string, text: string) => {
    writeFileSync(join(own, name), text)
    return join(own, name)
  }
  return new Subject({ ...server, port, directory: own, journal, ...rest(port, { directory: own, write }) })
}

interface YamlOptions {
  readonly port: number
  readonly mode: string
  readonly endpoints: readonly string[]
  readonly caFile: string | undefined
}

function namesYaml({ port, mode, endpoints, caFile }: YamlOptions): string {
  return `etcd:
  endpoints: [${endpoints.join(', ')}]
  ca_cert: ${caFile}
  username: ${READER.username}
  password: { file: password }
sources:
  - { type: etcd-zones, prefix: /zones/ }
  - { type: skydns, zones: [sky.test], mode: ${mode} }
serve: { listen: [127.0.0.1:${port}], state: state }
`
}

function corefile(port: number, endpoints: readonly string[], caFile: string | undefined): string {
  return `.:${port} {
    bind 127.0.0.1
    etcd sky.test {
        endpoint ${endpoints.join(' ')}
        tls ${caFile}
        credentials ${READER.username} ${READER.password}
    }
}
`
}
