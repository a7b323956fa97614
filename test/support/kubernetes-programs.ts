// kube-apiserver, kubectl and ExternalDNS, where the scripts have built them.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export interface KubernetesPrograms {
  readonly apiServer: string
  readonly kubectl: string
  /** Has a folder for each family of custom resource definitions. */
  readonly definitions: string
}

/** Undefined where they have not been built. */
export function findKubernetes(): KubernetesPrograms | undefined {
  const directory = built('build-kubernetes.sh')
  if (directory === undefined) return undefined
  return {
    apiServer: join(directory, 'kube-apiserver'),
    kubectl: join(directory, 'kubectl'),
    definitions: join(directory, 'crds'),
  }
}

/** The program; undefined where it has not been built. */
export function findExternalDns(): string | undefined {
  return built('build-external-dns.sh')
}

function built(script: string): string | undefined {
  const path = join(import.meta.dirname, '../../scripts', script)
  return execFileSync('bash', [path, '--if-built'], { encoding: 'utf8' }).trim() || undefined
}
