// Where a stack lives on this host: one directory with its machines, its secrets and its supervisor.

import { join } from 'node:path'

export interface StackDirectory {
  readonly path: string
  /** Generated passwords, the authority, certificates: 0700. */
  readonly secrets: string
  /** Addresses that machines were given. */
  readonly addresses: string
  /** Which stack file it comes from, and how far it got. */
  readonly record: string
  /** What a person needs to use the stack: certificates, and variables for a shell. */
  readonly client: string
  /** Roots of the machines. */
  readonly machines: string
}

export function stackDirectory(state: string, name: string): StackDirectory {
  const path = join(state, 'stacks', name)
  return {
    path,
    secrets: join(path, 'secrets'),
    addresses: join(path, 'addresses.json'),
    record: join(path, 'stack.json'),
    client: join(path, 'client'),
    machines: join(path, 'machines'),
  }
}
