// The user's own certificate authority: at the top of the file, or where the variables of PostgreSQL servers have it.

import type { AuthorityDocument, PostgresMemberDocument } from '../../clusters/postgres/schema.ts'
import type { Path } from '../../document/located.ts'
import { quote } from '../../document/values.ts'
import { HoldfastError } from '../../lib/errors.ts'
import { loadAuthority, validityProblem } from '../../pki/authority.ts'
import type { StackDocument } from '../schema.ts'
import type { GivenAuthority } from '../stack.ts'
import { agreed, type Given, type Layer } from './layers.ts'
import type { ClusterEntry } from './machines.ts'
import type { StackResolver } from './resolver.ts'

/** What Terraform calls the types of keys that can sign here. */
const ALGORITHMS: Readonly<Record<string, string>> = { rsa: 'RSA', ec: 'ECDSA' }

export function resolveAuthority(
  { ca, postgres }: StackDocument,
  members: readonly ClusterEntry<PostgresMemberDocument>[],
  resolver: StackResolver,
): GivenAuthority | undefined {
  const layers: readonly Layer<{ readonly ca?: AuthorityDocument | undefined }>[] = [
    { path: [], values: { ca } },
    { path: ['postgres'], values: postgres },
    ...members.map(({ path, document }) => ({ path: [...path, 'postgres'], values: document?.postgres })),
  ]
  const given = agreed(layers, 'ca', resolver)
  return given && checked(given, resolver)
}

function checked({ path, value }: Given<AuthorityDocument>, resolver: StackResolver): GivenAuthority | undefined {
  const certificate = resolver.pem(value.certificate, [...path, 'certificate'])
  const key = resolver.secret(value.key, [...path, 'key'])
  // What could not be read has been told already.
  if (certificate === '' || key === undefined || key.reveal() === '') return undefined
  const name = 'the authority'
  try {
    const authority = loadAuthority(name, certificate, key)
    const problem = validityProblem(authority, new Date())
    if (problem !== undefined) resolver.problem(path, problem)
    checkAlgorithm(authority.key?.asymmetricKeyType ?? '', value, path, resolver)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    resolver.problem(path, error.message.replace(`Cannot use ${name}: `, ''))
  }
  return { certificate, key }
}

function checkAlgorithm(type: string, value: AuthorityDocument, path: Path, resolver: StackResolver): void {
  const algorithm = ALGORITHMS[type]
  for (const name of ['key_algorithm', 'key_algorithmn'] as const) {
    const given = value[name]
    if (given === undefined || given.toUpperCase() === algorithm) continue
    const problem = `${quote(given)} is not the type of the key; expected "${algorithm}", or no "${name}"`
    resolver.problem([...path, name], problem)
  }
}
