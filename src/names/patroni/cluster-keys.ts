// What Patroni keeps in etcd below <namespace><scope>/, as far as names need it. Patroni 3.0 to 4.1 write the same
// keys; 4.0 says `primary` where earlier ones say `master`, and neither word matters here: who leads is told by the
// key `leader`, and a member that leads, is promoted or demoted is not a `replica`.

export interface PatroniMember {
  readonly name: string
  /** May hold a password. */
  readonly connUrl: string
  /** Takes reads: a running replica that is not kept from load balancing. */
  readonly isReplica: boolean
}

export interface PatroniCluster {
  /** The member that leads and takes writes: none while a leader is elected, nor in a standby cluster. */
  readonly primary: string | undefined
  readonly members: readonly PatroniMember[]
  /** Names of synchronous standbys in lower case, as PostgreSQL compares them so. */
  readonly sync: ReadonlySet<string>
  /** Names of members whose key cannot be read. */
  readonly unreadable: readonly string[]
}

/** All keys of a cluster begin with this. Patroni joins and cleans the parts in the same way. */
export function patroniPrefix(namespace: string, scope: string): string {
  return `/${namespace}/${scope}/`.replaceAll(/\/+/gu, '/')
}

/** `keys` are those below the prefix, without it. */
export function decodeCluster(keys: ReadonlyMap<string, Uint8Array>): PatroniCluster {
  const text = (key: string) => Buffer.from(keys.get(key) ?? []).toString()
  const leader = text('leader') || undefined
  const members: PatroniMember[] = []
  const unreadable: string[] = []
  let primary = leader
  if (isObject(parseObject(text('config')).standby_cluster)) primary = undefined
  for (const key of [...keys.keys()].toSorted()) {
    const [, name] = /^members\/([^/]+)$/u.exec(key) ?? []
    if (name === undefined) continue
    const { conn_url: connUrl, role, state, tags } = parseObject(text(key))
    if (typeof connUrl !== 'string') {
      unreadable.push(name)
      continue
    }
    if (name === leader && role === 'standby_leader') primary = undefined
    const balanced = !isObject(tags) || !tags.noloadbalance
    const running = state === 'running' || state === 'streaming'
    members.push({ name, connUrl, isReplica: role === 'replica' && running && balanced && name !== leader })
  }
  const { leader: syncLeader, sync_standby: standbys } = parseObject(text('sync'))
  const sync = syncLeader && typeof standbys === 'string' ? standbys.toLowerCase().split(',') : []
  return { primary, members, sync: new Set(sync.map((name) => name.trim())), unreadable }
}

/** An empty object when it is none. */
function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
