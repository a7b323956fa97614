// How a machine finds an etcd cluster and logs in to it, in a stack file.

import type { z } from 'zod'
import { endpoint, list, map, pem, secret, text } from '../document/values.ts'

/** A certificate with its key, a user with a password, or both. */
export const etcdClientSchema = map({
  certificate: pem.optional().describe('Client certificate.'),
  key: secret.optional().describe('Its key.'),
  username: text('a user name').optional().describe('User, where the certificate does not name it.'),
  password: secret.optional().describe('Password of the user.'),
}).refine(
  ({ certificate, key, username, password }) => {
    const isWhole = (certificate === undefined) === (key === undefined)
    const hasUser = (username === undefined) === (password === undefined)
    return isWhole && hasUser && (certificate !== undefined || username !== undefined)
  },
  { error: 'the login is not complete; expected "certificate" and "key", "username" and "password", or all four' },
)
export type EtcdClientDocument = z.output<typeof etcdClientSchema>

export const endpoints = list(endpoint, 'a list of addresses, such as [10.0.0.1:2379]')
