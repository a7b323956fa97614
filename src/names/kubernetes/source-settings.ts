// What can be set of the Kubernetes sources, after the flags of ExternalDNS: one set for all of them.

import type { KubernetesSettings } from '../../server/kubernetes-config.ts'

export type SourceSettings = KubernetesSettings

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
