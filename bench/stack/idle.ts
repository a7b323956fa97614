// What a lab costs that nobody uses: CPU time and memory, by what its processes are.

import { setTimeout as sleep } from 'node:timers/promises'
import type { MemberLab } from '../../test/support/member-lab.ts'
import { commandOf } from '../../src/targets/local/supervisor/process-table.ts'
import { cpuSeconds, processesCpu, processesMemory } from '../proc.ts'

export interface IdleCost {
  readonly kind: string
  readonly processes: number
  readonly cpuSecondsPerMinute: number
  readonly pssBytes: number
}

/** For what was started to come to rest. */
const REST_MS = 30_000

export async function idleCosts(
  lab: MemberLab,
  seconds: number,
  progress: (line: string) => void,
): Promise<IdleCost[]> {
  await sleep(REST_MS)
  const before = cpuByKind(lab)
  progress(`looking at an idle lab for ${seconds} s`)
  await sleep(seconds * 1000)
  const after = cpuByKind(lab)
  return [...processesByKind(lab)].map(([kind, pids]) => ({
    kind,
    processes: pids.length,
    cpuSecondsPerMinute: (((after.get(kind) ?? 0) - (before.get(kind) ?? 0)) * 60) / seconds,
    pssBytes: processesMemory(pids).pssBytes,
  }))
}

function cpuByKind(lab: MemberLab): Map<string, number> {
  return new Map([...processesByKind(lab)].map(([kind, pids]) => [kind, cpuSeconds(processesCpu(pids))]))
}

function processesByKind(lab: MemberLab): Map<string, number[]> {
  const { etcd, dns, postgres } = lab.members
  const of = (machines: readonly string[]) => machines.flatMap((machine) => lab.machineProcesses(machine))
  const isPatroni = (pid: number) => commandOf(pid).some((word) => /patroni(?:\.py)?$/u.test(word))
  const databases = of(postgres)
  return new Map([
    [`${etcd.length} etcd members`, of(etcd)],
    [`${dns.length} name servers`, of(dns)],
    [`${postgres.length} × Patroni`, databases.filter(isPatroni)],
    [`${postgres.length} × PostgreSQL`, databases.filter((pid) => !isPatroni(pid))],
    ['supervisor and its keeper', lab.supervisors()],
  ])
}
