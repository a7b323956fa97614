// config.yml of configurations-auto-updater, so that its users can change the program and keep the file. What differs:
// keys it would pass over in silence are errors, and failures are retried for ever instead of `retries` times.

import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { EtcdOptions } from '../etcd/options.ts'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import type { NotifyOptions } from '../names/outputs/notify.ts'
import { explain, wantedByDefault } from '../document/explain.ts'
import { listProblems } from '../document/located.ts'
import { endpoint, list, map, number, path, permissions, text, written } from '../document/values.ts'
import { YamlText } from '../document/yaml-text.ts'
import { parseDuration } from '../document/notation.ts'

const NOTIFY_RETRY_MS = 1000
const NOTIFY_TIMEOUT_MS = 60_000

const duration = written(parseDuration, 'duration', 'a duration', 'a duration such as 30s or 1m30s')
/** Go takes a missing time for no limit; ours are the defaults of the client. */
const timeout = duration.optional().transform((ms) => (ms === 0 ? undefined : ms))

const PREFIX = 'the text before the name of a file in a key'

/** Of zones only domains are taken, so that their keys may be anywhere; any other file could come from every key of the cluster. */
const schemaOf = (zonesOnly: boolean) =>
  map({
    filesystem: map({
      path,
      files_permission: permissions('"0660"').prefault('0660'),
      directories_permission: permissions('"0770"').prefault('0770'),
      keep: list(text('the name of a file'), 'a list of names of files').optional(),
    }),
    etcd_client: map({
      prefix: zonesOnly ? z.string({ error: PREFIX }) : text(PREFIX),
      endpoints: list(endpoint, 'a list of addresses, such as [10.0.0.1:2379]'),
      connection_timeout: timeout,
      request_timeout: timeout,
      retry_interval: duration.optional(),
      retries: number(0, Number.MAX_SAFE_INTEGER).optional(),
      auth: map({
        ca_cert: path.optional(),
        client_cert: path.optional(),
        client_key: path.optional(),
        client_cert_key: path.optional(),
        password_auth: path.optional(),
      })
        .refine((auth) => (auth.client_cert === undefined) === (auth.client_key === undefined), {
          error: 'a certificate and its key go together; expected both of "client_cert" and "client_key", or none',
        })
        .prefault({}),
    }),
    notification_command: list(text('a word of the command'), 'a list: the program, then its arguments').optional(),
    notification_command_retries: number(0, 1_000_000).prefault(0),
    grpc_notifications: z
      .undefined({ error: 'no notifications by gRPC, which are not supported: "notification_command" is' })
      .optional(),
    log_level: z.enum(['debug', 'info', 'warn', 'warning', 'error']).prefault('info'),
  })

const passwordSchema = map({ username: text('a user name'), password: text('a password') })

export interface PublishConfig {
  readonly etcd: EtcdOptions
  readonly prefix: string
  readonly directory: string
  readonly fileMode: number
  readonly directoryMode: number
  readonly keep: readonly string[]
  readonly notify: Omit<NotifyOptions, 'env'> | undefined
  /** Log only errors. */
  readonly quiet: boolean
}

/** Paths are relative to the directory the program runs in, as with the original. */
export function readPublishConfig(file: string, { zonesOnly }: { readonly zonesOnly: boolean }): PublishConfig {
  const config = readYaml(file, schemaOf(zonesOnly))
  const { auth, connection_timeout, request_timeout, endpoints, prefix } = config.etcd_client
  const certFile = auth.client_cert ?? auth.client_cert_key
  const keyFile = auth.client_key ?? auth.client_cert_key
  const command = config.notification_command
  const retries = config.notification_command_retries
  return {
    etcd: {
      endpoints,
      ...((auth.ca_cert ?? certFile) !== undefined && {
        tls: {
          ...(auth.ca_cert !== undefined && { caFile: auth.ca_cert }),
          ...(certFile !== undefined && { certFile }),
          ...(keyFile !== undefined && { keyFile }),
        },
      }),
      ...(auth.password_auth !== undefined && readYaml(auth.password_auth, passwordSchema)),
      ...(connection_timeout !== undefined && { dialTimeoutMs: connection_timeout }),
      ...(request_timeout !== undefined && { requestTimeoutMs: request_timeout }),
    },
    prefix,
    directory: config.filesystem.path,
    fileMode: config.filesystem.files_permission,
    directoryMode: config.filesystem.directories_permission,
    keep: config.filesystem.keep ?? [],
    notify:
      command === undefined ? undefined : { command, retries, retryMs: NOTIFY_RETRY_MS, timeoutMs: NOTIFY_TIMEOUT_MS },
    quiet: config.log_level === 'error',
  }
}

function readYaml<T extends z.ZodType>(file: string, wanted: T): z.output<T> {
  const yaml = new YamlText(readText(file))
  const parsed = wanted.safeParse(yaml.value, { error: wantedByDefault })
  const faults = yaml.faults.length > 0 || parsed.success ? yaml.faults : explain(parsed.error.issues, yaml)
  if (parsed.success && faults.length === 0) return parsed.data
  const { message, ...rest } = listProblems(file, faults)
  throw new HoldfastError('PublishConfigInvalid', message, rest)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new HoldfastError('FileUnreadable', `Cannot read "${file}": ${reasonOf(error)}`, { cause: error })
  }
}
