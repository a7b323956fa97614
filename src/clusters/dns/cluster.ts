// The status of the name servers of a stack, asked of each of them as a client would: over UDP, over TCP, and next to
// /health. A server that answers does its part; the cluster is ready when all of them also follow their sources and
// have the same version of the stack's own zone.

import { isIPv6 } from 'node:net'
import { TYPE } from '../../dns/types.ts'
import { messageOf, reasonOf } from '../../lib/errors.ts'
import type { ClusterStatus, MemberStatus } from '../member-status.ts'
import { reachProblem } from '../../lib/reach-problem.ts'
import type { MachineSpec } from '../site.ts'
import { askRecords, type AskOptions } from './dns-client.ts'
import type { DnsSpec } from './spec.ts'

const TIMEOUT_MS = 3000
const HTTP_TIMEOUT_MS = 5000
/** The state of a source whose etcd was formed again and is empty: what was known stays in service. */
const DOUBTED = 'doubted'

/** What is read of /status. */
interface ServerStatus {
  readonly version: string | undefined
  /** A reload that was refused. */
  readonly configuration?: { readonly errors: readonly { readonly message: string }[] }
  readonly sources: readonly { readonly name: string; readonly state: string; readonly error?: string }[]
  readonly zones: readonly { readonly zone: string; readonly state: string; readonly errors?: readonly string[] }[]
}

interface ServerReport {
  readonly member: MemberStatus
  /** SOA of the stack's own zone; undefined when it was not told. */
  readonly soa: string | undefined
  readonly isFollowing: boolean
}

/** `domain`: the stack's own zone. */
export async function dnsStatus(spec: DnsSpec, domain: string, signal: AbortSignal): Promise<ClusterStatus> {
  const reports = await Promise.all(spec.servers.map((server) => report(spec, server, domain, signal)))
  const members = reports.map(({ member }) => member)
  const ready = members.filter(({ isReady }) => isReady).length
  const problem =
    ready < members.length
      ? `${ready} of ${members.length} servers answer`
      : reports.some(({ isFollowing }) => !isFollowing)
        ? 'not all names in etcd are followed'
        : new Set(reports.map(({ soa }) => soa)).size > 1
          ? `servers have different versions of ${domain}`
          : undefined
  return { members, isReady: problem === undefined, isWorking: ready > 0, problem }
}

async function report(
  { engine, port, healthPort }: DnsSpec,
  server: MachineSpec,
  domain: string,
  signal: AbortSignal,
): Promise<ServerReport> {
  const [answers, status] = await Promise.allSettled([
    ask(server, port, domain, signal),
    engine === 'coredns'
      ? readHealth(server.address, healthPort, signal)
      : readStatus(server.address, healthPort, signal),
  ])
  signal.throwIfAborted()
  const failure = [answers, status].find((each) => each.status === 'rejected')
  const told = status.status === 'fulfilled' ? status.value : undefined
  const away = told?.sources.find(({ state }) => state !== 'following')
  const reach = failure && reachProblem(failure.reason)
  const problem =
    failure === undefined
      ? (configurationProblem(told) ?? sourceProblem(away) ?? zoneProblem(told))
      : reach === undefined
        ? reasonOf(failure.reason)
        : `it does not answer: ${reach}`
  return {
    member: {
      machine: server.name,
      isReady: failure === undefined,
      isDegraded: failure === undefined && (away !== undefined || told?.configuration !== undefined),
      role: failure === undefined ? 'server' : undefined,
      version: told?.version,
      lagBytes: undefined,
      problem,
      waitsFor: failure === undefined ? undefined : reach === undefined ? 'its names' : 'the name server to start',
    },
    soa: answers.status === 'fulfilled' ? answers.value : undefined,
    // Waiting does not bring back what etcd has lost: that is for the operator.
    isFollowing: told?.sources.every(({ state }) => state === 'following' || state === DOUBTED) ?? true,
  }
}

/** The SOA of the stack's own zone, when everything that is asked for is answered as it should be. */
async function ask({ name, address }: MachineSpec, port: number, domain: string, signal: AbortSignal): Promise<string> {
  const records = (owner: string, type: number, transport: AskOptions['transport']) =>
    askRecords({ address, port }, owner, type, { transport, timeoutMs: TIMEOUT_MS, signal })
  const [overUdp, overTcp, addresses] = await Promise.all([
    records(domain, TYPE.SOA, 'udp'),
    records(domain, TYPE.SOA, 'tcp'),
    records(`${name}.${domain}`, isIPv6(address) ? TYPE.AAAA : TYPE.A, 'udp'),
  ])
  if (overUdp.length === 0 || overTcp.length === 0) throw new Error(`it does not have the zone ${domain}`)
  if (addresses.length === 0) throw new Error(`it does not know ${name}.${domain}`)
  return overUdp[0]
}

async function readStatus(address: string, port: number, signal: AbortSignal): Promise<ServerStatus> {
  return get(`${baseUrl(address, port)}/status`, signal, async (response) => {
    const status = (await response.json()) as Partial<ServerStatus>
    if (status.version === undefined || status.sources === undefined || status.zones === undefined)
      throw new Error('it is no status of a name server')
    const { version, sources, zones, configuration } = status
    return { version, sources, zones, ...(configuration && { configuration }) }
  })
}

/** CoreDNS tells that it is well, and no more. */
async function readHealth(address: string, port: number, signal: AbortSignal): Promise<ServerStatus> {
  return get(`${baseUrl(address, port)}/health`, signal, async (response) => {
    if (!response.ok) throw new Error(`it answers ${response.status}`)
    return { version: undefined, sources: [], zones: [] }
  })
}

function baseUrl(address: string, port: number): string {
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`
}

async function get<T>(url: string, signal: AbortSignal, read: (response: Response) => Promise<T>): Promise<T> {
  const timed = AbortSignal.any([signal, AbortSignal.timeout(HTTP_TIMEOUT_MS)])
  try {
    return await read(await fetch(url, { signal: timed }))
  } catch (thrown) {
    const { cause } = thrown as Error
    throw new Error(`no status at ${url}: ${messageOf(cause ?? thrown)}`, { cause: thrown })
  }
}

function configurationProblem(status: ServerStatus | undefined): string | undefined {
  const { configuration } = status ?? {}
  return configuration && `its new configuration was refused: ${configuration.errors[0]?.message ?? 'no reason given'}`
}

function sourceProblem(source: ServerStatus['sources'][number] | undefined): string | undefined {
  if (source === undefined) return undefined
  const state =
    source.state === DOUBTED
      ? 'etcd has lost its keys; those known before are served until one is put again'
      : source.state
  return `${source.name}: ${source.error ?? state}`
}

function zoneProblem(status: ServerStatus | undefined): string | undefined {
  const zone = status?.zones.find(({ state }) => state !== 'ok')
  return zone && `zone ${zone.zone}: ${zone.errors?.[0] ?? zone.state}`
}
