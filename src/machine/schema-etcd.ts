// How a machine finds an etcd cluster and logs in to it, in a stack file.

import type { z } from 'zod'
import { endpoint, list, map, pem, secret, text } from '../document/values.ts'

/** Either a certificate with its key, or a user with a password. */
export const etcdClientSchema = map({
  certificate: pem.optional().describe('Client certificate.'),
  key: secret.optional().describe('Its key.'),
  username: text('a user name').optional().describe('User, where no certificate is used.'),
  password: secret.optional().describe('Password of the user.'),
}).refine(
  ({ certificate, key, username, password }) => {
    const byCertificate = certificate !== undefined && key !== undefined
    const byPassword = username !== undefined && password !== undefined
    const given = [certificate, key, username, password].filter((each) => each !== undefined)
    return given.length === 2 && (byCertificate || byPassword)
  },
  { error: 'a client is known by one thing; wanted: "certificate" and "key", or "username" and "password"' },
)
export type EtcdClientDocument = z.output<typeof etcdClientSchema>

export const endpoints = list(endpoint, 'a list of addresses, such as [10.0.0.1:2379]')
