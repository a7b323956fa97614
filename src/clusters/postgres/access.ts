// How Holdfast reaches the REST APIs of a Patroni cluster. A client certificate lets one ask; to command takes the
// password, too, so that a proxy that looks for the primary cannot restart it.

import { Secret } from '../../lib/secret.ts'
import { reveal } from '../../machine/content.ts'
import type { Keyring } from '../site.ts'
import { clientCertificate } from './certificates.ts'
import type { PostgresMember, PostgresSpec } from './spec.ts'

export interface PatroniAccess {
  readonly members: readonly Pick<PostgresMember, 'name' | 'patroniName' | 'address'>[]
  readonly credentials: PatroniCredentials
}

export interface PatroniCredentials {
  /** PEM, as the others. */
  readonly ca: string
  readonly certificate: string
  readonly key: Secret
  readonly username: string
  readonly password: Secret
}

export const OPERATOR = 'operator'

export function operatorPassword(keyring: Keyring): Secret {
  return keyring.secret('patroni-operator-password')
}

export function patroniAccess(spec: PostgresSpec, keyring: Keyring): PatroniAccess {
  const { certificate, key } = keyring.certificate(clientCertificate(spec, 'patroni/operator'))
  return {
    members: spec.members,
    credentials: {
      ca: reveal(keyring.authority),
      certificate: reveal(certificate),
      key: new Secret(reveal(key)),
      username: OPERATOR,
      password: operatorPassword(keyring),
    },
  }
}
