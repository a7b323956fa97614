// Command lines to try once a stack is up, complete enough to be pasted.

import { join } from 'node:path'
import type { StackStatus } from './status.ts'
import type { Stack } from './stack.ts'
import { digCommand, primaryName } from './client-files.ts'

export function examples(stack: Stack, clientDirectory: string): StackStatus['examples'] {
  const env = `. ${join(clientDirectory, 'env')}`
  const { dns, etcd, domain } = stack
  const primary = primaryName(stack)
  const name =
    primary ?? [...(etcd?.members ?? []), ...(dns?.servers ?? [])].map((machine) => `${machine.name}.${domain}`)[0]
  return [
    ...(dns === undefined ? [] : [{ purpose: 'names', command: digCommand(stack, name ?? domain) }]),
    ...(primary === undefined
      ? []
      : [{ purpose: 'data', command: `(${env}; psql -h ${primary} -c 'select inet_server_addr(), now()')` }]),
    ...(etcd === undefined ? [] : [{ purpose: 'consensus', command: `(${env}; etcdctl endpoint status -w table)` }]),
  ]
}
