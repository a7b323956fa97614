// What names.yaml may hold. One strict zod schema: every key has its description, its default and its limits here and
// nowhere else; types, checks, the JSON Schema for editors and the reference page are made from it.

import { z } from 'zod'
import { duration, list, map, number, path, permissions, text } from '../../document/values.ts'
import { ZONES_DEFAULT_PREFIX, zonesPrefix } from '../skydns-defaults.ts'
import { etcdSchema } from './schema-etcd.ts'
import { serveSchema } from './schema-serve.ts'
import { sourceSchema } from './schema-sources.ts'

const notify = map(
  {
    command: list(text('a word of the command'), 'a list: the program, then its arguments').describe(
      'The program and its arguments. No shell reads them. It gets the environment of the server without variables that hold its secrets.',
    ),
    retries: number(0, 1000).prefault(3).describe('How often a command that fails is tried again.'),
    retry_interval: duration({ from: '10ms', to: '1h' })
      .prefault('1s')
      .describe('How long to wait before that, twice as long each time.'),
    timeout: duration({ from: '100ms', to: '1h' })
      .prefault('1m')
      .describe('When a command has failed that does not end.'),
  },
  'a map with "command"',
)

const zonefiles = map({
  type: z.literal('zonefiles'),
  etcd: etcdSchema.optional().describe('The cluster, where it is not the one at the top of the file.'),
  prefix: z
    .string({ error: 'the text before the domain in a key' })
    .transform(zonesPrefix)
    .prefault(ZONES_DEFAULT_PREFIX)
    .describe('What stands before the domain in a key; `/coredns` and `/coredns/` are the same.'),
  directory: path.describe(
    'Where the files go: one for each domain, under its name. Files of domains that etcd does not have are removed.',
  ),
  permissions: permissions('"0644"').prefault('0644').describe('Mode of the files, in quotes.'),
  directory_permissions: permissions('"0755"')
    .prefault('0755')
    .describe('Mode of directories that are made, in quotes.'),
  notify: notify.optional().describe('A command to run after a change.'),
}).describe('Zone files from etcd into a directory, for a CoreDNS beside it.')

const writeSchema = z.discriminatedUnion('type', [zonefiles], { error: 'a map with "type"' })

export const namesSchema = map(
  {
    etcd: etcdSchema.optional().describe('The cluster of every source and output that names none of its own.'),
    sources: list(sourceSchema, 'a list of sources')
      .optional()
      .describe('Where names come from. A name that two of them have comes from the one listed first.'),
    serve: serveSchema.prefault({}).describe('How names are served.'),
    write: list(writeSchema, 'a list of outputs').optional().describe('Where names are written to.'),
  },
  'a map with "sources"',
)

export type NamesDocument = z.output<typeof namesSchema>
export type WriteDocument = NonNullable<NamesDocument['write']>[number]
