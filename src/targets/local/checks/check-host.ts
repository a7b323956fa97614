// Whether this host can run a stack: all checks, asked before anything is started.

import type { Finding } from '../../finding.ts'
import type { HostMachine } from './host-machine.ts'
import { checkInstalled } from './installed.ts'
import { checkMemory } from './memory.ts'
import { checkAddresses, checkPorts } from './ports.ts'
import { checkPostgresVersion } from './postgres-version.ts'
import { processesBelow, runningMachines } from './processes.ts'
import { checkOpenFiles, checkRights } from './rights.ts'
import { checkClock, checkNode, checkSelinux, checkSystem, checkUdp } from './runtime.ts'
import { checkDisk, checkStateDirectory } from './state-directory.ts'

export interface HostQuestion {
  readonly machines: readonly HostMachine[]
  /** The stack's. Processes that work below it are its own: what they have already is not wanted again. */
  readonly directory: string
  /** Of the data that the stack has. */
  readonly postgresVersion?: string | undefined
  readonly isRoot: boolean
  readonly signal: AbortSignal
}

export async function checkHost(question: HostQuestion): Promise<readonly Finding[]> {
  const { machines, directory, postgresVersion, isRoot, signal } = question
  const system = checkSystem()
  // Elsewhere there is nothing to look at.
  if (system.state === 'problem') return [system]
  const processes = processesBelow(directory)
  const [installed, postgres, addresses, ports] = await Promise.all([
    checkInstalled(machines, isRoot, signal),
    checkPostgresVersion(postgresVersion),
    checkAddresses(machines),
    checkPorts(machines, new Set(processes.keys()), isRoot),
  ])
  return [
    system,
    checkNode(),
    checkUdp(),
    checkClock(),
    ...checkSelinux(),
    ...installed,
    ...postgres,
    checkRights(isRoot),
    addresses,
    ...ports,
    checkMemory(machines, runningMachines(processes)),
    checkOpenFiles(machines.length),
    ...checkStateDirectory(directory, isRoot),
    checkDisk(directory, machines),
  ]
}
