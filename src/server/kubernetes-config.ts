// What can be asked of Kubernetes as a source of names, as plain data: names.yaml and the flags of the publishers end
// here. The settings bear the names of ExternalDNS's flags.

import type { KubeOptions } from '../kube/connection.ts'
import type { Environment } from '../kube/site.ts'
import type { SourceConfig } from './config.ts'

/** How to reach the API server, with the variables that tell it where nothing else does. */
export interface KubeAccess extends KubeOptions {
  readonly env: Environment
}

/** Variables that a kubeconfig or a service account is found by. */
const VARIABLES = ['KUBECONFIG', 'HOME', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'] as const

export function kubeAccess(options: KubeOptions, env: Environment): KubeAccess {
  return { ...options, env: Object.fromEntries(VARIABLES.map((name) => [name, env[name]])) }
}

/** `<interface>.<vm>.<namespace>.<zone>` for the secondary interfaces of KubeVirt's virtual machines. */
export interface KubevirtConfig extends SourceConfig {
  readonly kube: KubeAccess
  /** `vm.` or `vm.DOMAIN.` */
  readonly zone: string
  /** Addresses of the server of the zone, for its NS record and the addresses of `ns`. */
  readonly nameServers: readonly string[]
  readonly ttlSeconds: number
  readonly soa: SoaSettings
  /** Every address of an interface, or the first. */
  readonly addresses: 'all' | 'first'
  /** Empty: every namespace. */
  readonly namespaces: readonly string[]
  readonly labelSelector?: string
  readonly fallthrough: readonly string[]
}

export interface SoaSettings {
  readonly refreshSeconds: number
  readonly retrySeconds: number
  readonly expireSeconds: number
  /** How long a denial may be remembered. */
  readonly minimumSeconds: number
}

/** Names of ingresses, services, nodes, gateway routes and DNSEndpoints. */
export interface KubernetesConfig extends SourceConfig {
  readonly kube: KubeAccess
  /** `ingress`, `service` …, as `--source` of ExternalDNS names them. */
  readonly from: readonly string[]
  readonly zones: readonly string[]
  /** Of names whose objects say nothing of it. */
  readonly ttlSeconds: number
  readonly nameservers: readonly string[]
  readonly defaultTargets: readonly string[]
  readonly settings: KubernetesSettings
  readonly fallthrough: readonly string[]
}

/** One set for all kinds of objects, after the flags of ExternalDNS. */
export interface KubernetesSettings {
  /** Only objects of this namespace. */
  readonly namespace?: string
  /** What annotation keys begin with, the one that counts first. */
  readonly annotationPrefixes: readonly string[]
  /** Label selectors: for annotations, and for labels. */
  readonly annotationFilter?: string
  readonly labelFilter?: string
  readonly fqdnTemplates: readonly string[]
  readonly targetTemplates: readonly string[]
  readonly fqdnTargetTemplates: readonly string[]
  /** Names from templates as well, not only where there are no others. */
  readonly combineFqdnAnnotation: boolean
  readonly ignoreHostnameAnnotation: boolean
  readonly ingressClassNames: readonly string[]
  readonly ignoreIngressTlsSpec: boolean
  readonly ignoreIngressRulesSpec: boolean
  /** Empty: every type. */
  readonly serviceTypeFilter: readonly string[]
  readonly publishInternalServices: boolean
  readonly publishHostIp: boolean
  readonly alwaysPublishNotReadyAddresses: boolean
  readonly exposeInternalIpv6: boolean
  readonly excludeUnschedulable: boolean
  readonly gatewayName?: string
  readonly gatewayNamespace?: string
  readonly gatewayLabelFilter?: string
  /** `group/version` and kind of the objects of source `crd`. */
  readonly crdApiVersion: string
  readonly crdKind: string
}
