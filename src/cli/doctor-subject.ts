// What `holdfast doctor` checks the host for: the machines of a stack file, or a sample of every kind without one.

import { findStackFile } from '../stack/load-stack.ts'
import type { HostNeeds } from '../stack/places/place.ts'
import type { Finding } from '../targets/finding.ts'
import { checkHost } from '../targets/local/checks/check-host.ts'
import { packagesOf, SAMPLE_MACHINES, usersOf } from '../targets/local/checks/host-machine.ts'
import type { Io } from './command.ts'
import { isRoot, openStack, type StackChoice, stateOf } from './stack-choice.ts'

export interface DoctorSubject {
  readonly needs: HostNeeds
  check(signal: AbortSignal): Promise<readonly Finding[]>
}

export async function chooseSubject(choice: StackChoice, io: Io): Promise<DoctorSubject> {
  if (choice.positionals.length === 0 && findStackFile('.') === undefined) {
    const machines = SAMPLE_MACHINES
    return {
      needs: { packages: packagesOf(machines), users: usersOf(machines) },
      check: (signal) =>
        checkHost({ machines, directory: stateOf(choice.options.state, io), isRoot: isRoot(), signal }),
    }
  }
  const operator = await openStack(choice, io)
  return { needs: operator.needs(), check: (signal) => operator.checkHost(signal) }
}
