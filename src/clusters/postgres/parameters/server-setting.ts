// A parameter of PostgreSQL as a running server has it: a row of pg_settings, and the value that it has where nothing sets it.

export interface ServerSetting {
  /** In lower case. */
  readonly name: string
  /** In its base unit. */
  readonly value: string
  /** Its base unit: `kB`, `8kB`, `ms` … */
  readonly unit: string | undefined
  readonly type: ParameterType
  /** When it can change: `postmaster` (at a restart), `internal` (never), `sighup`, `user` … */
  readonly context: string
  readonly minimum: number | undefined
  readonly maximum: number | undefined
  /** Of an enum. */
  readonly choices: readonly string[]
  /** In the words of a file: of the file that `initdb` wrote, otherwise the server's own default. */
  readonly fallback: string | undefined
  /** Its files have another value than the server runs with. */
  readonly isPending: boolean
}

export type ParameterType = 'bool' | 'integer' | 'real' | 'enum' | 'string'

/** By name, in lower case. */
export type ServerSettings = ReadonlyMap<string, ServerSetting>
