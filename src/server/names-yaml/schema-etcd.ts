// `etcd:` of names.yaml: how to reach a cluster. Stands at the top of the file for everything, or where it is used.

import type { z } from 'zod'
import { duration, endpoint, flag, list, map, path, secret, text } from '../../document/values.ts'

export const etcdSchema = map(
  {
    endpoints: list(endpoint, 'a list of addresses, such as [https://10.0.0.1:2379]')
      .meta({ examples: [['https://10.0.0.1:2379', 'https://10.0.0.2:2379', 'https://10.0.0.3:2379']] })
      .describe(
        'Members of the cluster: `https://HOST:PORT`, `http://HOST:PORT`, or `HOST:PORT`, which is HTTPS when one of the certificate settings is there.',
      ),
    ca_cert: path
      .optional()
      .describe(
        'PEM file with the authorities that may sign the certificates of the servers. Otherwise those of Node.',
      ),
    client_cert: path.optional().describe('PEM file with the client certificate. Read again at each connection.'),
    client_key: path.optional().describe('PEM file with the key of the client certificate.'),
    server_name: text('a host name')
      .optional()
      .describe('The name that the certificates of the servers must carry, where it is not the host of the endpoint.'),
    insecure_skip_verify: flag
      .prefault(false)
      .describe('Take any certificate. Whoever is between you and etcd can then read and change everything.'),
    username: text('a user name').optional().describe('User of etcd.'),
    password: secret
      .optional()
      .describe('Password of the user: the text itself, `{ file: PATH }` or `{ env: VARIABLE }`.'),
    connection_timeout: duration({ from: '100ms', to: '5m' })
      .prefault('2s')
      .describe('How long making a connection may take, TLS included.'),
    request_timeout: duration({ from: '100ms', to: '5m' })
      .prefault('5s')
      .describe('How long a request may take, further attempts included.'),
  },
  'a map with "endpoints"',
)
  .superRefine((etcd, context) => {
    const pairs = [
      ['client_cert', 'client_key'],
      ['username', 'password'],
    ] as const
    for (const [one, other] of pairs) {
      if ((etcd[one] === undefined) === (etcd[other] === undefined)) continue
      const [there, missing] = etcd[one] === undefined ? [other, one] : [one, other]
      context.addIssue({ code: 'custom', message: `"${there}" stands without "${missing}"; expected both or none` })
    }
    const certificates = (['ca_cert', 'client_cert', 'server_name'] as const).find((key) => etcd[key] !== undefined)
    if (certificates !== undefined && etcd.endpoints.every((each) => each.startsWith('http://')))
      context.addIssue({
        code: 'custom',
        message: `"${certificates}" has no effect, as every endpoint is plain http; expected https endpoints`,
      })
  })
  .meta({ id: 'etcd' })

export type EtcdDocument = z.output<typeof etcdSchema>
