// A stack file as a whole, after each key has been checked by itself: machines, then the clusters that need etcd, then etcd
// with the users they need.

import { resolve } from 'node:path'
import type { Path } from '../../document/located.ts'
import { quote } from '../../document/values.ts'
import type { MachineDocument, SettingsDocument } from '../../machine/schema.ts'
import type { StackDocument } from '../schema.ts'
import type { Stack } from '../stack.ts'
import { resolveAuthority } from './authority.ts'
import { resolveDns } from './dns-part.ts'
import { resolveEtcd } from './etcd-part.ts'
import { type ClusterEntry, entriesOf, specsByName } from './machines.ts'
import { ownUsers } from './own-users.ts'
import { resolvePostgres } from './postgres-part.ts'
import type { StackResolver } from './resolver.ts'

/** Problems and notices are left with the resolver; with problems, the result is of no use. */
export function resolveStack(
  document: StackDocument,
  kept: Readonly<Record<string, string>>,
  resolver: StackResolver,
): Stack {
  const { name, target, domain } = document
  const entries = machineEntries(document)
  const all = Object.values(entries).flat()
  if (all.length === 0) resolver.problem([], 'there is no machine in it; expected "etcd", "dns" or "postgres"')
  const specs = specsByName(document, all, kept, resolver)
  const hasEtcd = document.etcd !== undefined
  const postgres =
    document.postgres &&
    resolvePostgres(
      { part: document.postgres, entries: entries.postgres, proxies: entries.haproxy, specs, hasEtcd },
      resolver,
    )
  const scope = postgres?.patroni.scope.toLowerCase()
  const ownZones = [`${domain}.`, ...(scope === undefined ? [] : [`${scope}.${domain}.`])]
  const dns =
    document.dns && resolveDns({ part: document.dns, entries: entries.dns, specs, hasEtcd, ownZones }, resolver)
  const etcd =
    document.etcd &&
    resolveEtcd(
      {
        stack: name,
        part: document.etcd,
        entries: entries.etcd,
        specs,
        ownUsers: ownUsers(dns, postgres, resolver),
        isForPatroni: postgres?.etcd === 'own',
      },
      resolver,
    )
  const clash = all.find((entry) => entry.name === scope)
  if (clash !== undefined)
    resolver.problem(
      clash.path,
      `${quote(clash.name)} is the scope of Patroni, too, whose zone is ${clash.name}.${domain}; expected another name for one of both`,
    )
  return {
    ...{ name, target, domain, etcd, dns, postgres },
    file: resolve(resolver.file),
    authority: resolveAuthority(document, entries.postgres, resolver),
    notices: resolver.notices.map(({ at, message }) => `${at}: ${message}`),
  }
}

function machineEntries(document: StackDocument) {
  const { etcd, dns, postgres } = document
  const cluster = <T extends MachineDocument & SettingsDocument>(
    kind: ClusterEntry<T>['kind'],
    path: Path,
    machines: number | readonly T[] | undefined,
    part: SettingsDocument | undefined,
  ) => {
    const settings = [
      { path: path.slice(0, 1), values: part },
      { path: [], values: document },
    ]
    return machines === undefined ? [] : entriesOf({ kind, path, machines, settings })
  }
  const proxies = typeof postgres?.haproxy === 'object' ? postgres.haproxy.servers : postgres?.haproxy ? 1 : undefined
  return {
    etcd: cluster('etcd', ['etcd', 'members'], etcd?.members, etcd),
    dns: cluster('dns', ['dns', 'servers'], dns?.servers, dns),
    postgres: cluster('postgres', ['postgres', 'members'], postgres?.members, postgres),
    haproxy: cluster('haproxy', ['postgres', 'haproxy', 'servers'], proxies, postgres),
  }
}
