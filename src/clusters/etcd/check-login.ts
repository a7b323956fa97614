// How users log in is decided when a cluster is new: users that came with certificates have no passwords, and users with
// passwords no certificates, so a running cluster would shut all of them out.

import { HoldfastError } from '../../lib/errors.ts'
import type { EtcdSpec } from './spec.ts'

/** `settings`: the file PATHS.settings of a member that exists. */
export function checkSameLogin({ clientCertAuth }: EtcdSpec, settings: string): void {
  if (settings.split('\n').includes(`ETCD_CLIENT_CERT_AUTH=${clientCertAuth}`)) return
  const [now, wanted] = clientCertAuth ? ['passwords', 'certificates'] : ['certificates', 'passwords']
  throw new HoldfastError(
    'EtcdLogin',
    `Cannot change the login of etcd users to ${wanted}: the cluster was made with ${now}; client_cert_auth has to stay ${!clientCertAuth}`,
    {
      hint: 'PostgreSQL needs passwords: a stack that is to have it later should say "client_cert_auth: false" from the start',
    },
  )
}
