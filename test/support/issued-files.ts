// Certificates of a keyring as files, as machines get them: an authority made for the stack, or a given one.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CertificateRequest } from '../../src/clusters/site.ts'
import { reveal } from '../../src/machine/content.ts'
import { StackKeyring } from '../../src/stack/keyring.ts'
import type { GivenAuthority } from '../../src/stack/stack.ts'

export interface IssuedFiles {
  /** Path of the certificates to trust. */
  readonly ca: string
  readonly cert: (id: string) => string
  readonly key: (id: string) => string
}

type Wanted = Pick<CertificateRequest, 'id' | 'usages'> & Partial<CertificateRequest>

export async function issueFiles(
  directory: string,
  wanted: readonly Wanted[],
  authority?: GivenAuthority,
): Promise<IssuedFiles> {
  const keyring = await StackKeyring.open(join(directory, 'secrets'), { stack: 'lab', authority })
  const defaults = { organization: 'Holdfast', domains: [], addresses: [], validityHours: 8760, earlyRenewalHours: 24 }
  const requests = wanted.map((request) => ({ ...defaults, ...request }))
  for (const request of requests) keyring.certificate(request)
  await keyring.issue()
  const save = (name: string, text: string) => writeFileSync(join(directory, name), text, { mode: 0o600 })
  mkdirSync(directory, { recursive: true })
  save('ca.pem', reveal(keyring.authority))
  for (const request of requests) {
    const { certificate, key } = keyring.certificate(request)
    save(`${request.id}.pem`, reveal(certificate))
    save(`${request.id}.key`, reveal(key))
  }
  chmodSync(directory, 0o755)
  return {
    ca: join(directory, 'ca.pem'),
    cert: (id) => join(directory, `${id}.pem`),
    key: (id) => join(directory, `${id}.key`),
  }
}
