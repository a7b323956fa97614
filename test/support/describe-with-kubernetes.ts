// Suites that need a KubeCluster. Where its programs are not built they are skipped, with a message; where
// HOLDFAST_REQUIRE_KUBERNETES=1 says that they must be there, as in CI, they fail.

import { describe } from 'vitest'
import { findCoredns } from '../side-by-side/servers.ts'
import { findExternalDns, findKubernetes } from './kubernetes-programs.ts'

/** As vitest's `describe`. */
export const describeWithKubernetes = describeWith('scripts/build-kubernetes.sh', findKubernetes())

/** For a suite within one of those: ExternalDNS is there, too. */
export const describeWithExternalDns = describeWith('scripts/build-external-dns.sh', findExternalDns())

/** Suites that need CoreDNS, which is built beside them. */
export const describeWithCoredns = describeWith('scripts/build-coredns.sh', findCoredns())

function describeWith(script: string, found: unknown) {
  if (found !== undefined) return describe
  const message = `${script} has not built what these tests need; it does, given Go`
  if (process.env.HOLDFAST_REQUIRE_KUBERNETES === '1') throw new Error(message)
  console.warn(`Skipped: ${message}`)
  return describe.skip
}
