// The sources `kubevirt` and `kubernetes` of names.yaml as configuration of the server.

import { isIP } from 'node:net'
import type { Path } from '../../document/located.ts'
import { quote } from '../../document/values.ts'
import {
  type KubeAccess,
  kubeAccess,
  type KubernetesConfig,
  type KubernetesSettings,
  type KubevirtConfig,
} from '../kubernetes-config.ts'
import type { Resolver } from './resolver.ts'
import type { SourceDocument } from './schema-sources.ts'
import { domain as domainSchema } from './values.ts'

type Document<Type extends SourceDocument['type']> = Extract<SourceDocument, { readonly type: Type }>

/** Both are read, the newer one first. */
const ANNOTATION_PREFIXES = ['external-dns.kubernetes.io/', 'external-dns.alpha.kubernetes.io/'] as const
const DNS_ENDPOINT = { crdApiVersion: 'externaldns.k8s.io/v1alpha1', crdKind: 'DNSEndpoint' } as const

export function kubevirtConfig(source: Document<'kubevirt'>, path: Path, resolver: Resolver): KubevirtConfig {
  const { ttl, soa, addresses, namespaces = [], label_filter } = source
  const domain = domainOf(source, path, resolver)
  return {
    ...{ kube: access(source, resolver), ttlSeconds: ttl, addresses, namespaces },
    nameServers: nameServersOf(source, path, resolver),
    zone: domain === '.' ? 'vm.' : `vm.${domain}`,
    soa: {
      ...{ refreshSeconds: soa.refresh, retrySeconds: soa.retry, expireSeconds: soa.expire },
      minimumSeconds: soa.minimum,
    },
    ...(label_filter !== undefined && { labelSelector: label_filter }),
    fallthrough: source.fallthrough,
  }
}

/** Absolute; the root where there is none. */
function domainOf({ domain = '.' }: Document<'kubevirt'>, path: Path, resolver: Resolver): string {
  if (typeof domain === 'string') return domain
  const value = resolver.env[domain.env] ?? ''
  if (value === '') return '.'
  const { data } = domainSchema.safeParse(value)
  if (data === undefined)
    resolver.problem([...path, 'domain'], `${domain.env} is ${quote(value)}; expected a name such as example.org`)
  return data ?? '.'
}

function nameServersOf(source: Document<'kubevirt'>, path: Path, resolver: Resolver): readonly string[] {
  const { name_server_ip: given = [] } = source
  if (!('env' in given)) return given
  const value = resolver.env[given.env] ?? ''
  const addresses = value.split(',').map((each) => each.trim())
  if (value === '' || addresses.every((each) => isIP(each) !== 0)) return value === '' ? [] : addresses
  const problem = `${given.env} is ${quote(value)}; expected an address, or several with commas between`
  resolver.problem([...path, 'name_server_ip'], problem)
  return []
}

export function kubernetesConfig(source: Document<'kubernetes'>, resolver: Resolver): KubernetesConfig {
  const { from, zones, ttl, nameservers = [], default_targets: defaultTargets = [], fallthrough } = source
  return {
    ...{ kube: access(source, resolver), from, zones, ttlSeconds: ttl, nameservers, defaultTargets, fallthrough },
    settings: settingsOf(source),
  }
}

function settingsOf(source: Document<'kubernetes'>): KubernetesSettings {
  const { namespace, annotation_filter, label_filter, gateway_name, gateway_namespace, gateway_label_filter } = source
  return {
    ...DNS_ENDPOINT,
    annotationPrefixes: ANNOTATION_PREFIXES,
    ...(namespace !== undefined && { namespace }),
    ...(annotation_filter !== undefined && { annotationFilter: annotation_filter }),
    ...(label_filter !== undefined && { labelFilter: label_filter }),
    fqdnTemplates: source.fqdn_template ?? [],
    targetTemplates: source.target_template ?? [],
    fqdnTargetTemplates: source.fqdn_target_template ?? [],
    combineFqdnAnnotation: source.combine_fqdn_annotation,
    ignoreHostnameAnnotation: source.ignore_hostname_annotation,
    ingressClassNames: source.ingress_class ?? [],
    ignoreIngressTlsSpec: source.ignore_ingress_tls_spec,
    ignoreIngressRulesSpec: source.ignore_ingress_rules_spec,
    serviceTypeFilter: source.service_type_filter ?? [],
    publishInternalServices: source.publish_internal_services,
    publishHostIp: source.publish_host_ip,
    alwaysPublishNotReadyAddresses: source.always_publish_not_ready_addresses,
    exposeInternalIpv6: source.expose_internal_ipv6,
    excludeUnschedulable: source.exclude_unschedulable,
    ...(gateway_name !== undefined && { gatewayName: gateway_name }),
    ...(gateway_namespace !== undefined && { gatewayNamespace: gateway_namespace }),
    ...(gateway_label_filter !== undefined && { gatewayLabelFilter: gateway_label_filter }),
  }
}

function access({ kubeconfig, context }: Document<'kubernetes' | 'kubevirt'>, resolver: Resolver): KubeAccess {
  const options = {
    ...(kubeconfig !== undefined && { kubeconfig: resolver.path(kubeconfig) }),
    ...(context !== undefined && { context }),
  }
  return kubeAccess(options, resolver.env)
}
