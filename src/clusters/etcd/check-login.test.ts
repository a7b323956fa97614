import { expect, test } from 'vitest'
import { checkSameLogin } from './check-login.ts'
import type { EtcdSpec } from './spec.ts'

const spec = (clientCertAuth: boolean) => ({ clientCertAuth }) as EtcdSpec

test('users go on logging in as the cluster was made for', () => {
  checkSameLogin(spec(true), 'ETCD_NAME=a\nETCD_CLIENT_CERT_AUTH=true\n')
  expect(() => checkSameLogin(spec(false), 'ETCD_NAME=a\nETCD_CLIENT_CERT_AUTH=true\n')).toThrow(
    'Cannot change the login of etcd users to passwords: the cluster was made with certificates; client_cert_auth has to stay true',
  )
  expect(() => checkSameLogin(spec(true), 'ETCD_CLIENT_CERT_AUTH=false\n')).toThrow('made with passwords')
})
