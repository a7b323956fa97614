// What a PostgreSQL cluster says before it is changed: who leads, what its servers run with, what waits for a restart.

import type { Secret } from '../../lib/secret.ts'
import type { PatroniAccess } from './access.ts'
import { readSettings } from './parameters/read-settings.ts'
import type { ServerSettings } from './parameters/server-setting.ts'
import { PatroniApi } from './patroni-api.ts'
import type { UnusableData } from './unusable-data.ts'
import { isStreaming, isSynchronous, leaderOf, lookAt, type Sight } from './status.ts'

export interface PostgresFacts extends Partial<UnusableData> {
  /** Machine of the member that leads. */
  readonly primary: string | undefined
  /** Another member could lead: a synchronous standby where there are some, otherwise one that streams. */
  readonly canSwitchOver: boolean
  /** By machine, of those that answer. */
  readonly servers: ReadonlyMap<string, ServerSettings>
  /** Machines whose Patroni reports a restart as pending. */
  readonly pending: ReadonlySet<string>
  /** Parameters that members share now, as etcd has them; undefined when no member answers. */
  readonly shared: Readonly<Record<string, string>> | undefined
}

/** `password`: of the role that Patroni has. What does not answer is left out. */
export async function readFacts(patroni: PatroniAccess, password: Secret, signal: AbortSignal): Promise<PostgresFacts> {
  const { members, credentials } = patroni
  const sight = await lookAt(patroni, signal)
  const answering = members.filter(({ patroniName }) => typeof sight.statuses.get(patroniName) === 'object')
  const read = answering.map(async ({ name, address }) => {
    const settings = await readSettings({ address, ca: credentials.ca, password }).catch(() => undefined)
    return [name, settings] as const
  })
  const servers = (await Promise.all(read)).flatMap(([name, settings]) =>
    settings === undefined ? [] : [[name, settings] as const],
  )
  const leader = leaderOf(sight)?.name
  return {
    primary: members.find(({ patroniName }) => patroniName === leader)?.name,
    canSwitchOver: canSwitchOver(sight),
    servers: new Map(servers),
    pending: new Set(answering.filter(({ patroniName }) => isPending(sight, patroniName)).map(({ name }) => name)),
    shared: await sharedNow(
      answering.map(({ address }) => new PatroniApi(address, credentials)),
      signal,
    ),
  }
}

export function isPending(sight: Sight, patroniName: string): boolean {
  const status = sight.statuses.get(patroniName)
  return typeof status === 'object' && status.pending_restart === true
}

export function canSwitchOver(sight: Sight): boolean {
  const leader = leaderOf(sight)?.name
  const others = (sight.members ?? []).filter(({ name }) => name !== leader && isStreaming(name, sight))
  const synchronous = (sight.members ?? []).filter(isSynchronous)
  return synchronous.length === 0 ? others.length > 0 : synchronous.some((each) => others.includes(each))
}

async function sharedNow(
  apis: readonly PatroniApi[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>> | undefined> {
  for (const api of apis) {
    const config = await api.config(signal).catch(() => undefined)
    if (config === undefined) continue
    const entries = Object.entries(config.postgresql?.parameters ?? {})
    return Object.fromEntries(entries.map(([name, value]) => [name, textOf(value)]))
  }
  signal.throwIfAborted()
  return undefined
}

/** As PostgreSQL writes it. */
function textOf(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)
}
