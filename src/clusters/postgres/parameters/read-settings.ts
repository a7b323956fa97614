// Asks one PostgreSQL server for its parameters, over TLS as the role of Patroni.

import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import type { Secret } from '../../../lib/secret.ts'
import { ROLES } from '../roles.ts'
import { POSTGRES_PORT } from '../spec.ts'
import type { ParameterType, ServerSetting, ServerSettings } from './server-setting.ts'

export interface ServerLogin {
  readonly address: string
  /** PEM. */
  readonly ca: string
  /** Of the role that Patroni has. */
  readonly password: Secret
}

const CONNECT_SECONDS = 5
const QUESTION_MS = 10_000
/** What `initdb` wrote; Patroni includes it in its own file. */
const QUESTION = String.raw`
  SELECT s.name, s.setting, s.unit, s.vartype, s.context, s.min_val, s.max_val, to_json(s.enumvals) AS enumvals, s.pending_restart,
         coalesce(f.setting, s.boot_val) AS fallback
  FROM pg_catalog.pg_settings s LEFT JOIN (
    SELECT DISTINCT ON (lower(name)) lower(name) AS name, setting FROM pg_catalog.pg_file_settings
    WHERE sourcefile LIKE '%.base.conf' ORDER BY lower(name), seqno DESC
  ) f ON f.name = lower(s.name)`

interface Row {
  readonly name: string
  readonly setting: string | null
  readonly unit: string | null
  readonly vartype: ParameterType
  readonly context: string
  readonly min_val: string | null
  readonly max_val: string | null
  readonly enumvals: readonly string[] | null
  readonly pending_restart: boolean
  readonly fallback: string | null
}

/** Rejects when the server does not answer in time. */
export async function readSettings({ address, ca, password }: ServerLogin): Promise<ServerSettings> {
  const { default: postgres } = await import('postgres')
  const sql = postgres({
    ...{ host: address, port: POSTGRES_PORT, database: 'postgres', user: ROLES.patroni, password: password.reveal() },
    ...{ max: 1, connect_timeout: CONNECT_SECONDS, prepare: false, fetch_types: false, onnotice: () => undefined },
    // By its address: the library only checks names.
    ssl: { ca, checkServerIdentity: (_: string, peer: PeerCertificate) => checkServerIdentity(address, peer) },
    connection: { application_name: 'holdfast', statement_timeout: QUESTION_MS },
  })
  try {
    const rows = await sql.unsafe<Row[]>(QUESTION)
    return new Map(rows.map((row) => [row.name.toLowerCase(), settingOf(row)]))
  } finally {
    await sql.end({ timeout: 1 })
  }
}

function settingOf(row: Row): ServerSetting {
  const number = (text: string | null) => (text === null ? undefined : Number(text))
  return {
    name: row.name.toLowerCase(),
    value: row.setting ?? '',
    unit: row.unit ?? undefined,
    type: row.vartype,
    context: row.context,
    minimum: number(row.min_val),
    maximum: number(row.max_val),
    choices: row.enumvals ?? [],
    fallback: row.fallback ?? undefined,
    isPending: row.pending_restart,
  }
}
