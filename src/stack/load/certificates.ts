// What is wrong with the certificate of a server that somebody hands us: found here, before a cluster is started in which
// nobody trusts the other.

import { createPrivateKey, type X509Certificate } from 'node:crypto'
import type { GivenCertificate } from '../../clusters/etcd/spec.ts'
import type { TlsDocument } from '../../clusters/etcd/schema.ts'
import type { Path } from '../../document/located.ts'
import { isSignedBy, parseCertificates } from '../../pki/authority.ts'
import type { StackResolver } from './resolver.ts'

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'

interface Demands {
  /** Of the member. */
  readonly address: string
  /** Names of etcd users. */
  readonly users: ReadonlySet<string>
}

export function resolveCertificate(
  tls: TlsDocument,
  demands: Demands,
  path: Path,
  resolver: StackResolver,
): GivenCertificate | undefined {
  const [caPath, certPath, keyPath] = ['ca_cert', 'server_cert', 'server_key'].map((key) => [...path, key])
  const caCert = resolver.pem(tls.ca_cert, caPath)
  const serverCert = resolver.pem(tls.server_cert, certPath)
  const serverKey = resolver.secret(tls.server_key, keyPath)
  const authorities = readCertificates(caCert, caPath, resolver)
  const [server, ...between] = readCertificates(serverCert, certPath, resolver)
  if (server !== undefined) {
    const problems = [...serverProblems(server, demands)]
    if (authorities.length > 0 && ![...between, ...authorities].some((issuer) => isSignedBy(server, issuer)))
      problems.push('it is not signed by "ca_cert"; expected the authority that signed it')
    for (const problem of problems) resolver.problem(certPath, problem)
  }
  if (serverKey === undefined || serverKey.reveal() === '') return undefined
  const problem = keyProblem(serverKey.reveal(), server)
  if (problem !== undefined) resolver.problem(keyPath, problem)
  return { caCert, serverCert, serverKey }
}

function readCertificates(pem: string, path: Path, resolver: StackResolver): readonly X509Certificate[] {
  const certificates = parseCertificates(pem)
  // What could not be read has been told already.
  if (certificates === undefined && pem !== '')
    resolver.problem(path, 'it is not a certificate; expected one as PEM text')
  return certificates ?? []
}

function* serverProblems(server: X509Certificate, { address, users }: Demands): Generator<string> {
  if (server.validToDate < new Date()) yield `it ended on ${server.validTo}; expected one that is valid`
  for (const each of new Set([address, '127.0.0.1']))
    if (server.checkIP(each) === undefined) yield `it is not valid for ${each}; expected one with this address`
  const usages = server.keyUsage as readonly string[] | undefined
  if (usages !== undefined && ![SERVER_AUTH, CLIENT_AUTH].every((usage) => usages.includes(usage)))
    yield 'it is not for both servers and clients; expected both uses, as members talk to each other'
  const [, commonName = ''] = /^CN=(.*)$/mu.exec(server.subject) ?? []
  if (users.has(commonName))
    yield `its common name is etcd's user "${commonName}", as whom anybody could act; expected another one, or none`
}

function keyProblem(pem: string, certificate: X509Certificate | undefined): string | undefined {
  try {
    const key = createPrivateKey(pem)
    const fits = certificate === undefined || certificate.checkPrivateKey(key)
    return fits ? undefined : 'it is not the key of "server_cert"; expected the one that belongs to it'
  } catch {
    return 'it is not a private key; expected one as PEM text, without a passphrase'
  }
}
