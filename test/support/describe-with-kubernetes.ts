// Suites that need a KubeCluster. Where its programs are not built they are skipped, with a message; where
// HOLDFAST_REQUIRE_KUBERNETES=1 says that they must be there, as in CI, they fail.

import { describe } from 'vitest'
import { findExternalDns, findKubernetes } from './kubernetes-programs.ts'

/** As vitest's `describe`. */
export const describeWithKubernetes = describeWith('scripts/build-kubernetes.sh', findKubernetes())

/** For a suite within one of those: ExternalDNS is there, too. */
export const describeWithExternalDns = describeWith('scripts/build-external-dns.sh', findExternalDns())

function describeWith(script: string, found: unknown) {
  if (found !== undefined) return describe
  const message = `${script} has not built what these tests need; it does, given Go`
  if (process.env.HOLDFAST_REQUIRE_KUBERNETES === '1') throw new Error(message)
  console.warn(`Skipped: ${message}`)
  return describe.skip
}
