// What a stack file may hold. One strict zod schema: every key has its description, its limits and its default at the key;
// checks, the type of defineStack, the JSON Schema for editors and the reference page are made from it.

import { z } from 'zod'
import { dnsSchema } from '../clusters/dns/schema.ts'
import { etcdSchema } from '../clusters/etcd/schema.ts'
import { settingsShape } from '../clusters/machine-variables.ts'
import { authoritySchema, postgresSchema } from '../clusters/postgres/schema.ts'
import { map, written } from '../document/values.ts'
import { hostName } from '../machine/schema.ts'

const LONGEST_DOMAIN = 120
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`, 'u')

/** Lower case, without the final dot. The last label of a name is never a number: that would be an address. */
function parseStackDomain(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/u, '')
  const isDomain = name.length <= LONGEST_DOMAIN && DOMAIN.test(name) && !/(?:^|\.)\d+$/u.test(name)
  return isDomain ? name : undefined
}

/** The second octet: the network is 127.N.0.0/16. */
function parseNetwork(text: string): number | undefined {
  const octet = Number(/^127\.(\d{1,3})\.0\.0\/16$/u.exec(text)?.[1] ?? NaN)
  return octet <= 255 ? octet : undefined
}

export const stackSchema = map(
  {
    name: hostName.describe('Name of the stack; no two on this host have the same.'),
    target: z
      .enum(['local', 'libvirt'], { error: '"local" or "libvirt"' })
      .prefault('local')
      .describe('What machines are: `local`, processes on this host; `libvirt`, virtual machines.'),
    domain: written(
      parseStackDomain,
      'domain name',
      'a domain',
      'a name such as lab.test, at most 120 characters',
    ).describe("Domain of the stack's own names: `etcd-1.DOMAIN`, `primary.pg.DOMAIN` …"),
    network: written(parseNetwork, '127.N.0.0/16', 'a loopback network', 'a network such as 127.77.0.0/16')
      .optional()
      .describe(
        'Where machines get their addresses with `target: local`. Chosen by the name of the stack unless given.',
      ),
    ca: authoritySchema
      .optional()
      .describe('Your own certificate authority. Otherwise the stack makes one, and keeps it.'),
    etcd: etcdSchema.optional().describe('A cluster of etcd.'),
    dns: dnsSchema.optional().describe('Name servers.'),
    postgres: postgresSchema.optional().describe('A PostgreSQL cluster under Patroni.'),
    ...settingsShape,
  },
  'a map with "name"',
)

/** As it is written. */
export type StackInput = z.input<typeof stackSchema>
/** Checked key by key; not yet as a whole. */
export type StackDocument = z.output<typeof stackSchema>
