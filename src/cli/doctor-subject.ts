// What `holdfast doctor` checks the host for: the machines of a stack file, or a sample of every kind without one.

import { findStackFile } from '../stack/load-stack.ts'
import { type HostMachine, SAMPLE_MACHINES } from '../targets/local/checks/host-machine.ts'
import type { Io } from './command.ts'
import { openStack, type StackChoice, stateOf } from './stack-choice.ts'

export interface DoctorSubject {
  readonly machines: readonly HostMachine[]
  /** The stack's; that of all stacks without one. */
  readonly directory: string
  readonly postgresVersion: string | undefined
}

export async function chooseSubject(choice: StackChoice, io: Io): Promise<DoctorSubject> {
  if (choice.positionals.length === 0 && findStackFile('.') === undefined)
    return {
      machines: SAMPLE_MACHINES,
      directory: stateOf(choice.options.state, io),
      postgresVersion: undefined,
    }
  const operator = await openStack(choice, io)
  return {
    machines: await operator.machines(),
    directory: operator.directory.path,
    postgresVersion: operator.dataVersion,
  }
}
