// How the clock and the logs of a machine are written in a stack file: chrony, fluentd, fluent-bit.

import { z } from 'zod'
import { hasLogin } from '../lib/address-login.ts'
import { flag, isOneLine, line, map, number, pem, preset, secret, written } from '../document/values.ts'
import { endpoints, etcdClientSchema } from './schema-etcd.ts'

const timeSources = z
  .array(
    map({
      url: line('a host name or an address').describe('Name or address of the server or pool.'),
      options: z
        .union(
          [
            z.array(line('an option')),
            z
              .string()
              .refine(isOneLine)
              .transform((words) => words.split(' ').filter(Boolean)),
          ],
          {
            error: 'options, such as [iburst]',
          },
        )
        .prefault([])
        .describe("Options of chrony's `server` and `pool`, such as `[iburst]`."),
    }),
    { error: 'a list of maps with "url"' },
  )
  .prefault([])

const enabled = flag.prefault(false)

export const chronySchema = map({
  enabled: enabled.describe('Whether to install chrony.'),
  servers: timeSources.describe('Time servers.'),
  pools: timeSources.describe('Pools of time servers.'),
  makestep: map({
    threshold: z.number({ error: 'a number of seconds' }).describe('Step when the clock is further off, in seconds.'),
    limit: number(-1, 1_000_000).describe('Only in the first so many updates.'),
  })
    .optional()
    .describe('When the clock may be stepped instead of slewed.'),
}).meta({ id: 'chrony' })

/** Written into configurations as it is. Variables that are not used may be empty. */
function word(what: string, pattern = /^[\w.:/@-]*$/u) {
  return written((text) => (pattern.test(text) ? text : undefined), 'text', what, 'letters, digits and "._:/@-"')
}

const LOGIN_IN_SOURCE =
  'the address has a user or a password in it, which everybody on the machine could read; expected it without, and the login in a file in /etc/apt/auth.conf.d of the image'

const tag = (standard: string) => preset(word('a tag'), standard)

const agent = {
  enabled: enabled.describe('Whether to install it.'),
  etcd_tag: tag('etcd').describe('Tag of the logs of etcd.'),
  coredns_tag: tag('coredns').describe('Tag of the logs of the name server.'),
  coredns_updater_tag: tag('coredns_updater').describe(
    'Tag of the logs of the updater of zone files, which there is with `engine: coredns`.',
  ),
  patroni_tag: tag('patroni').describe('Tag of the logs of Patroni.'),
  node_exporter_tag: tag('node_exporter').describe('Tag of the logs of the Prometheus node exporter.'),
  forward: map({
    domain: word('a name or an address', /^[\w.:-]+$/u).describe('Name or address of the node that takes the logs.'),
    port: number(1, 65_535).describe('Its port.'),
    hostname: word('a name').optional().describe('What the machine calls itself; its name unless given.'),
    shared_key: secret.describe('The key shared with that node.'),
    ca_cert: pem.describe('Authority that signed the certificate of that node.'),
  })
    .optional()
    .describe('Where logs are sent, by the forward protocol.'),
  package_source: map(
    {
      source: line('a line of sources.list')
        .refine((source) => !hasLogin(source), { error: LOGIN_IN_SOURCE })
        .describe(
          'A line as sources.list has it, with `[signed-by=$KEY_FILE]`, which stands for the file with the key. A password for it is in `/etc/apt/auth.conf.d` of the image.',
        ),
      key: pem.describe('The OpenPGP public key that signs it, ASCII-armored.'),
    },
    'a map with "source" and "key"',
  )
    .optional()
    .describe(
      "The vendor's source of Debian packages, to install it from with `install_dependencies`. Without it the image has to have it.",
    ),
}

export const fluentdSchema = map({
  ...agent,
  buffer: map({
    customized: flag.prefault(false).describe('Whether `custom_value` is used.'),
    custom_value: z.string({ error: 'text' }).prefault('').describe("fluentd's `<buffer>` section, whole."),
  })
    .optional()
    .describe('How outgoing logs are buffered.'),
}).meta({ id: 'fluentd' })
export type FluentdDocument = z.output<typeof fluentdSchema>

export const fluentbitSchema = map({
  ...agent,
  etcd: map({
    enabled: enabled.describe('Whether the configuration is taken from etcd, live.'),
    key_prefix: z.string({ error: 'a prefix' }).prefault('').describe('What the keys of the configuration begin with.'),
    endpoints: endpoints.optional().describe('Members of the cluster: `IP:PORT`.'),
    ca_certificate: pem.optional().describe('Authority that signed the certificates of the cluster.'),
    client: etcdClientSchema.optional().describe('How to log in.'),
  })
    .optional()
    .describe('An etcd cluster that holds the configuration.'),
}).meta({ id: 'fluentbit' })
export type FluentbitDocument = z.output<typeof fluentbitSchema>
