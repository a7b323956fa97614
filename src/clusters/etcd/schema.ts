// `etcd:` of a stack file. What holds for the whole cluster stands once beside `members`; the variables of a single member
// (`etcd`, `cluster`, …) may repeat it, and then have to agree.

import { z } from 'zod'
import { flag, list, map, number, pem, preset, quote, secret, text, written } from '../../document/values.ts'
import { machines } from '../../machine/schema.ts'
import { ip } from '../../machine/schema-networks.ts'
import { machineShape, settingsShape } from '../machine-variables.ts'

export const ETCD_DEFAULTS = {
  auto_compaction_mode: 'revision',
  auto_compaction_retention: '1000',
  space_quota: 8 * 1024 ** 3,
} as const

const RETENTION = 'a number, or a duration such as 1h'

const settings = {
  auto_compaction_mode: preset(z.enum(['periodic', 'revision']), ETCD_DEFAULTS.auto_compaction_mode).describe(
    'Whether old revisions are dropped by time or by number.',
  ),
  auto_compaction_retention: preset(
    z
      .union([z.int().min(0).transform(String), text(RETENTION)], { error: RETENTION })
      .meta({ title: 'number or duration' }),
    ETCD_DEFAULTS.auto_compaction_retention,
  ).describe('What is kept: so many revisions; or, by time, so many hours or a duration such as `30m`.'),
  space_quota: preset(number(16 * 1024 ** 2, 1024 ** 4), ETCD_DEFAULTS.space_quota).describe(
    'Bytes on disk from which on etcd takes no more writes.',
  ),
  grpc_gateway_enabled: flag
    .optional()
    .describe('The JSON gateway, which Patroni needs. `true` when PostgreSQL uses this cluster, `false` otherwise.'),
  client_cert_auth: flag
    .optional()
    .describe(
      'Users are known by client certificates instead of passwords. `false` when PostgreSQL uses this cluster, `true` otherwise.',
    ),
}

const rootPassword = z
  .union([z.literal(''), secret], { error: 'text, { file: PATH } or { env: VARIABLE }' })
  .meta({ title: 'text or map' })
  .optional()
  .describe('Password of root where users have passwords; generated unless given.')

const initialCluster = map({
  is_initializing: flag
    .optional()
    .describe(
      'Whether the cluster is made together with this member. What is there decides; with `false` for all members, no cluster is made where there is none.',
    ),
  initial_token: written(
    (word) => (/^[!-~]+$/u.test(word) && !/["'\\`$#;]/u.test(word) ? word : undefined),
    'text',
    'a token',
    'printable ASCII without spaces, quotes, "\\", "$", "#" and ";"',
  )
    .optional()
    .describe('What distinguishes clusters that are made at the same addresses; the name of the stack unless given.'),
  initial_members: list(
    map({
      name: text('a name').describe('Name of the member.'),
      ip: ip.describe('Its address, that of its first interface.'),
    }),
    'a list of maps with "name" and "ip"',
  )
    .optional()
    .describe(
      'Members the cluster starts with, each one of this file: a cluster is one stack. Only checked, as a new cluster starts with all members.',
    ),
})
export type InitialClusterDocument = z.output<typeof initialCluster>

const tls = map({
  ca_cert: pem.describe('Authority that signed the certificates of members and clients.'),
  server_cert: pem.describe(
    'Certificate of the member, for servers and clients, valid for its address and 127.0.0.1; then the authorities between.',
  ),
  server_key: secret.describe('Key of the certificate.'),
})
export type TlsDocument = z.output<typeof tls>

const member = map({
  ...machineShape,
  ...settingsShape,
  etcd: map(settings).optional().describe('Settings of the cluster, the same for each member.'),
  authentication_bootstrap: map({
    bootstrap: flag
      .optional()
      .describe(
        'Whether this member sets up users and roles. One always does; the first that does not say `false`, unless one says `true`.',
      ),
    root_password: rootPassword,
  })
    .optional()
    .describe('Which member sets up users and roles.'),
  cluster: initialCluster.optional().describe('How the cluster starts, the same for each member.'),
  tls: tls
    .optional()
    .describe("Finished certificates, for all members or none; otherwise the stack's authority makes them."),
}).meta({ id: 'etcd-member' })
export type EtcdMemberDocument = z.output<typeof member>

/** The script that sets up users compares it with keys as etcdctl prints them, one in each line, with others escaped. */
const keyPrefix = text('what keys begin with').refine(
  (prefix) => /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u.test(prefix) && !/["\\]/u.test(prefix),
  {
    error: ({ input }) =>
      `${quote(String(input))} has a quotation mark, a backslash or a character that is not printable in it; expected what keys begin with`,
  },
)

const user = map({
  name: written(
    (word) => (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/u.test(word) ? word : undefined),
    'name',
    'a user name',
    'letters, digits, ".", "_" and "-", at most 63 of them',
  ).describe('Name of the user, and of its role.'),
  permissions: list(
    map({
      access: z.enum(['read', 'write', 'readwrite']).describe('What it may do there.'),
      prefix: keyPrefix.describe('What the keys begin with.'),
    }),
    'a list of maps with "access" and "prefix"',
  ).describe('Keys the user may use; no others.'),
  password: secret
    .optional()
    .describe('Its password; generated unless given. Without use where users have certificates.'),
})

export const etcdSchema = map(
  {
    members: machines(member, 'members').describe(
      'How many members, which are then `etcd-1`, `etcd-2` …, or a list of them. Odd numbers are best.',
    ),
    ...settings,
    authentication_bootstrap: map({ root_password: rootPassword }).optional().describe('The first user.'),
    cluster: initialCluster.optional().describe('How the cluster starts.'),
    users: list(user, 'a list of users')
      .optional()
      .describe('Users beside those the stack has itself, each with a role of its own.'),
    ...settingsShape,
  },
  'a map with "members"',
)
export type EtcdDocument = z.output<typeof etcdSchema>
