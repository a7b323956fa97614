// What can be set of the Kubernetes sources, after the flags of ExternalDNS: one set for all of them.

export interface SourceSettings {
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

export const DEFAULT_SETTINGS: SourceSettings = {
  annotationPrefixes: ['external-dns.kubernetes.io/', 'external-dns.alpha.kubernetes.io/'],
  fqdnTemplates: [],
  targetTemplates: [],
  fqdnTargetTemplates: [],
  combineFqdnAnnotation: false,
  ignoreHostnameAnnotation: false,
  ingressClassNames: [],
  ignoreIngressTlsSpec: false,
  ignoreIngressRulesSpec: false,
  serviceTypeFilter: [],
  publishInternalServices: false,
  publishHostIp: false,
  alwaysPublishNotReadyAddresses: false,
  exposeInternalIpv6: false,
  excludeUnschedulable: true,
  crdApiVersion: 'externaldns.k8s.io/v1alpha1',
  crdKind: 'DNSEndpoint',
}
