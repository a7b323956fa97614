// `postgres:` of a stack file. What holds for the whole cluster stands once beside `members`; the variables of a single
// member (`postgres`, `etcd`, `patroni`) may repeat it, and then have to agree. Its certificate, its login to etcd and its
// name are its own.

import { z } from 'zod'
import { flag, map, number, pem, preset, secret, text } from '../../document/values.ts'
import { machines } from '../../machine/schema.ts'
import { ip } from '../../machine/schema-networks.ts'
import { machineShape, settingsShape } from '../machine-variables.ts'
import { patroniEtcdSchema, patroniName, patroniShape } from './schema-patroni.ts'

export const CERTIFICATE_DEFAULTS = {
  domains: [],
  extra_ips: [],
  organization: 'Holdfast',
  validity_period: 8760,
  early_renewal_period: 720,
}

export const HAPROXY_DEFAULTS = { servers: 1, read_write_port: 5000, read_only_port: 5001 }

const LONGEST_HOURS = 10_000_000

const keyAlgorithm = z
  .string({ error: 'RSA or ECDSA' })
  .optional()
  .describe('Algorithm of the key, `RSA` or `ECDSA`. The key itself says it; another one here is an error.')

/** Signs every certificate of the stack; at the top of the file, or where the document of PostgreSQL has it. */
export const authoritySchema = map(
  {
    certificate: pem.describe('Certificate of the authority.'),
    key: secret.describe('Its key, RSA or EC, not encrypted.'),
    key_algorithm: keyAlgorithm,
    key_algorithmn: keyAlgorithm.describe('The same, as the variables of PostgreSQL servers spell it.'),
  },
  'a map with "certificate" and "key"',
).meta({ id: 'authority' })
export type AuthorityDocument = z.output<typeof authoritySchema>

const value = z
  .union([z.string(), z.number(), z.boolean()], { error: 'text, a number, true or false' })
  .meta({ title: 'text, number, `true` or `false`' })
  .transform(String)

const params = z
  .union(
    [
      z.array(map({ key: text('a parameter').describe('Its name.'), value: value.describe('Its value.') })),
      z.record(z.string(), value),
    ],
    { error: 'a map, or a list of maps with "key" and "value"' },
  )
  .meta({ title: 'map, or [{ key, value }, …]' })
  .optional()
  .describe('Parameters of PostgreSQL, which Patroni shares among the members.')
export type ParamsDocument = NonNullable<z.output<typeof params>>

const certificate = map({
  domains: preset(z.array(text('a domain'), { error: 'a list of names' }), CERTIFICATE_DEFAULTS.domains).describe(
    'Names the certificates are for, beside those of the stack.',
  ),
  extra_ips: preset(z.array(ip, { error: 'a list of addresses' }), CERTIFICATE_DEFAULTS.extra_ips).describe(
    'Addresses the certificates are for, beside those of the machines.',
  ),
  organization: preset(text('a name'), CERTIFICATE_DEFAULTS.organization).describe('Organization in the certificates.'),
  validity_period: preset(number(1, LONGEST_HOURS), CERTIFICATE_DEFAULTS.validity_period).describe(
    'How long certificates are valid, in hours.',
  ),
  early_renewal_period: preset(number(0, LONGEST_HOURS), CERTIFICATE_DEFAULTS.early_renewal_period).describe(
    'How long before their end they are renewed, in hours; at most a third of their validity unless given.',
  ),
}).meta({ id: 'certificate' })

const settings = {
  params,
  replicator_password: secret.optional().describe('Password of the replication user; generated unless given.'),
  superuser_password: secret.optional().describe('Password of the user postgres; generated unless given.'),
  ca: authoritySchema.optional().describe('The same as `ca` at the top of the file.'),
  certificate: certificate.optional().describe('What the certificates of the servers say.'),
}

const member = map({
  ...machineShape,
  ...settingsShape,
  postgres: map(settings)
    .optional()
    .describe('Settings of the cluster, the same for each member but for `certificate`.'),
  etcd: patroniEtcdSchema.describe(
    'The etcd cluster of Patroni, the same for each member but for `username` and `password`.',
  ),
  patroni: map({
    ...patroniShape,
    name: patroniName('the name of a member')
      .optional()
      .describe("Patroni's name of the member; that of the machine unless given."),
  })
    .optional()
    .describe('Settings of Patroni, the same for each member but for `name`.'),
}).meta({ id: 'postgres-member' })
export type PostgresMemberDocument = z.output<typeof member>

const proxy = map({ ...machineShape, ...settingsShape }).meta({ id: 'haproxy-server' })
export type ProxyDocument = z.output<typeof proxy>

const haproxy = map({
  servers: machines(proxy, 'servers')
    .prefault(HAPROXY_DEFAULTS.servers)
    .describe('How many, which are then `haproxy-1`, `haproxy-2` …, or a list of them.'),
  read_write_port: number(1, 65_535)
    .prefault(HAPROXY_DEFAULTS.read_write_port)
    .describe('Port that leads to the primary.'),
  read_only_port: number(1, 65_535).prefault(HAPROXY_DEFAULTS.read_only_port).describe('Port that leads to replicas.'),
})

export const postgresSchema = map(
  {
    members: machines(member, 'members').describe(
      'How many members, which are then `postgres-1`, `postgres-2` …, or a list of them.',
    ),
    version: z
      .string({ error: 'a major version, such as "15"' })
      .regex(/^\d{2}$/u, { error: 'a major version, such as "15"' })
      .optional()
      .describe(
        'Major version of PostgreSQL; `15` in virtual machines, the newest one installed on this host with target local unless given. Data stays with the version that made it: another one is refused.',
      ),
    ...settings,
    etcd: patroniEtcdSchema,
    patroni: map(patroniShape).optional().describe('Settings of Patroni.'),
    haproxy: z
      .union([flag, haproxy], { error: 'true, false or a map' })
      .prefault(false)
      .describe('HAProxy in front of the cluster, with a stable port for the primary and one for replicas.'),
    ...settingsShape,
  },
  'a map with "members"',
)
export type PostgresDocument = z.output<typeof postgresSchema>
