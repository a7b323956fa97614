// names.yaml to the configuration of the name server, in three steps: YAML, then the schema, then what only the file as
// a whole, its directory and the environment can tell. Each step tells all of its problems at once.

import { explain, wantedByDefault } from '../../document/explain.ts'
import { listProblems, type Problem } from '../../document/located.ts'
import { YamlText } from '../../document/yaml-text.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { EtcdConnection, ServerConfig } from '../config.ts'
import type { Notice } from '../corefile/problem.ts'
import { type NamesContext, Resolver } from './resolver.ts'
import { namesSchema, type WriteDocument } from './schema.ts'
import { serverBlocks } from './server-blocks.ts'

export interface LoadedNames {
  readonly config: ServerConfig
  readonly notices: readonly Notice[]
  readonly write: readonly ZonefilesOutput[]
}

/** Zone files from an etcd prefix into a directory. */
export interface ZonefilesOutput {
  readonly etcd: EtcdConnection
  readonly prefix: string
  readonly directory: string
  readonly fileMode: number
  readonly directoryMode: number
  readonly notify?: {
    readonly command: readonly string[]
    readonly retries: number
    readonly retryMs: number
    readonly timeoutMs: number
  }
  /** Variables that the file takes secrets from. */
  readonly secretVariables: ReadonlySet<string>
}

/** Throws a HoldfastError with code NamesInvalid that lists every problem. */
export function loadNames(text: string, context: NamesContext): LoadedNames {
  const yaml = new YamlText(text)
  if (yaml.faults.length > 0) throw invalid(yaml.faults, context)
  const parsed = namesSchema.safeParse(yaml.value, { error: wantedByDefault })
  if (!parsed.success) throw invalid(explain(parsed.error.issues, yaml), context)
  const resolver = new Resolver(parsed.data, yaml, context)
  const blocks = serverBlocks(parsed.data, resolver)
  const write = (parsed.data.write ?? []).map((output, index) => zonefilesOutput(output, index, resolver))
  if (resolver.problems.length > 0) throw invalid(resolver.problems, context)
  const { state } = parsed.data.serve
  return {
    config: { blocks, ...(state !== undefined && { state: resolver.path(state) }) },
    notices: resolver.notices,
    write,
  }
}

function zonefilesOutput(output: WriteDocument, index: number, resolver: Resolver): ZonefilesOutput {
  const { prefix, directory, permissions, directory_permissions, notify } = output
  return {
    etcd: resolver.etcd(output.etcd, ['write', index]),
    prefix,
    directory: resolver.path(directory),
    fileMode: permissions,
    directoryMode: directory_permissions,
    secretVariables: resolver.secretVariables,
    ...(notify && {
      notify: {
        command: notify.command,
        retries: notify.retries,
        retryMs: notify.retry_interval,
        timeoutMs: notify.timeout,
      },
    }),
  }
}

function invalid(problems: readonly Problem[], { file }: NamesContext): HoldfastError {
  const { message, ...faults } = listProblems(file, problems)
  return new HoldfastError('NamesInvalid', message, faults)
}
