// Whether a host is large enough: memory, of which each machine takes all that it is given, and processors, which they share.

import type { Machine } from '../../../machine/machine.ts'
import { type Finding, ok, problem, warning } from '../../finding.ts'
import type { PlaceFacts } from '../place-facts.ts'
import { hasItsShare, namesOf } from './placed-machine.ts'

export function checkHostMemory(machines: readonly Machine[], facts: PlaceFacts): readonly Finding[] {
  const { host } = facts
  const starting = machines.filter((machine) => !hasItsShare(machine, facts))
  const wantedMib = starting.reduce((sum, { hardware }) => sum + hardware.memoryMib, 0)
  if (wantedMib === 0) return [ok('memory', `${host.freeMemoryMib} MiB free`)]
  const message = `${wantedMib} MiB needed for ${starting.length === 1 ? '1 machine' : `${starting.length} machines`}; ${host.name} has ${host.freeMemoryMib} MiB free of ${host.memoryMib} MiB`
  const fix = 'give machines less "memory", or another "hypervisor"'
  // Containers only take what they use.
  if (facts.kind === 'lxc') return [ok('memory', message)]
  if (wantedMib > host.memoryMib) return [problem('memory', message, fix)]
  return [wantedMib > host.freeMemoryMib ? warning('memory', message, fix) : ok('memory', message)]
}

export function checkProcessors(machines: readonly Machine[], { host }: PlaceFacts): readonly Finding[] {
  const greedy = machines.filter(({ hardware }) => hardware.vcpus > host.cpus)
  if (greedy.length === 0) return []
  const message = `${namesOf(greedy)} would have more processors than ${host.name}, which has ${host.cpus}`
  return [warning('processors', message, 'give them less "vcpus": more than there are makes them slower')]
}
