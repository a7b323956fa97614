// Settings of Patroni, and those that could never work together.

import type { PostgresDocument } from '../../clusters/postgres/schema.ts'
import { PATRONI_DEFAULTS } from '../../clusters/postgres/schema-patroni.ts'
import type { PatroniSpec } from '../../clusters/postgres/spec.ts'
import { quote } from '../../document/values.ts'
import { skydnsPath } from '../../server/skydns-defaults.ts'
import { agreed, type Layer } from './layers.ts'
import type { PostgresContext } from './postgres-part.ts'
import type { StackResolver } from './resolver.ts'

type Patroni = NonNullable<PostgresDocument['patroni']>

/** Names that the zone of the cluster has for what its members do. */
const SERVICE_NAMES = ['primary', 'replica', 'sync'] as const

export function resolvePatroni({ part, entries }: PostgresContext, resolver: StackResolver): PatroniSpec {
  const layers: readonly Layer<Patroni>[] = [
    { path: ['postgres', 'patroni'], values: part.patroni },
    ...entries.map(({ path, document }) => ({ path: [...path, 'patroni'], values: document?.patroni })),
  ]
  const given = <K extends keyof Patroni>(key: K) => agreed(layers, key, resolver)
  const [count, strict, ttl] = [given('synchronous_node_count'), given('synchronous_mode_strict'), given('ttl')]
  const spec: PatroniSpec = {
    scope: given('scope')?.value ?? PATRONI_DEFAULTS.scope,
    namespace: `${skydnsPath(given('namespace')?.value ?? PATRONI_DEFAULTS.namespace)}/`,
    ttl: ttl?.value ?? PATRONI_DEFAULTS.ttl,
    loopWait: given('loop_wait')?.value ?? PATRONI_DEFAULTS.loop_wait,
    retryTimeout: given('retry_timeout')?.value ?? PATRONI_DEFAULTS.retry_timeout,
    masterStartTimeout: given('master_start_timeout')?.value ?? PATRONI_DEFAULTS.master_start_timeout,
    masterStopTimeout: given('master_stop_timeout')?.value ?? PATRONI_DEFAULTS.master_stop_timeout,
    watchdogSafetyMargin: given('watchdog_safety_margin')?.value ?? PATRONI_DEFAULTS.watchdog_safety_margin,
    synchronousNodeCount: count?.value ?? PATRONI_DEFAULTS.synchronous_node_count,
    synchronousMode: given('synchronous_mode')?.value ?? PATRONI_DEFAULTS.synchronous_mode,
    synchronousModeStrict: strict?.value ?? PATRONI_DEFAULTS.synchronous_mode_strict,
  }

  const least = spec.loopWait + 2 * spec.retryTimeout
  if (spec.ttl < least)
    resolver.problem(
      ttl?.path ?? ['postgres', 'patroni'],
      `a leader could lose its lock while it retries: the TTL is ${spec.ttl}, "loop_wait" + 2 × "retry_timeout" is ${least}; expected a TTL of at least ${least}`,
    )

  const standbys = entries.length - 1
  const isStrict = spec.synchronousMode && spec.synchronousModeStrict
  if (isStrict && standbys === 0)
    resolver.problem(
      ['postgres', 'members'],
      'one member cannot commit under strict synchronous replication: there is no standby to replicate to; expected at least 2 members, or "synchronous_mode_strict: false" in "patroni"',
    )
  else if (spec.synchronousNodeCount > standbys && (isStrict || (spec.synchronousMode && count !== undefined)))
    resolver.problem(
      count?.path ?? ['postgres', 'members'],
      `commits wait for ${spec.synchronousNodeCount} standbys, and ${entries.length} members have ${standbys}; expected at most ${standbys}, or more members`,
    )
  return spec
}

/** Patroni's name of each member. */
export function patroniNames(entries: PostgresContext['entries'], resolver: StackResolver): string[] {
  const seen = new Set<string>(SERVICE_NAMES)
  return entries.map(({ name, path, document }) => {
    const patroniName = document?.patroni?.name ?? name
    const at = document?.patroni?.name === undefined ? path : [...path, 'patroni', 'name']
    if (seen.has(patroniName.toLowerCase()))
      resolver.problem(at, `${quote(patroniName)} is a name of the cluster already; expected one for each member`)
    seen.add(patroniName.toLowerCase())
    return patroniName
  })
}
