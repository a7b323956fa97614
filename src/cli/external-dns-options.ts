// The flags of ExternalDNS, as data: those that make sense with its CoreDNS provider, those that say nothing there, and
// those that are told or refused because they would.

import type { Option } from './command.ts'

export type Flag =
  | { readonly kind: 'text'; readonly value: string; readonly summary: string }
  | { readonly kind: 'list'; readonly value: string; readonly summary: string }
  | { readonly kind: 'switch'; readonly summary: string; readonly standard?: boolean }

const text = (value: string, summary: string) => ({ kind: 'text', value, summary }) as const
const list = (value: string, summary: string) => ({ kind: 'list', value, summary }) as const
const toggle = (summary: string, standard = false) => ({ kind: 'switch', summary, standard }) as const

const FLAGS = {
  kubeconfig: text(
    'FILE',
    'how to reach the API server; KUBECONFIG, ~/.kube/config or the service account of the pod unless given',
  ),
  context: text('NAME', 'a context of the kubeconfig'),
  server: text('URL', 'the API server, where it is not the one of the kubeconfig'),
  source: list('KIND', 'ingress, service, node, crd, gateway-httproute, -grpcroute, -tlsroute, -tcproute, -udproute'),
  provider: text('NAME', 'coredns: everything not given is as with ExternalDNS'),
  namespace: text('NAME', 'only objects of this namespace'),
  'annotation-filter': text('SELECTOR', 'only objects with such annotations'),
  'annotation-prefix': text('PREFIX', 'what keys of annotations begin with; both prefixes of ExternalDNS unless given'),
  'enable-legacy-annotation-prefix': toggle(
    'annotations that begin with external-dns.alpha.kubernetes.io/ too; on unless --annotation-prefix is given',
  ),
  'label-filter': text('SELECTOR', 'only objects with such labels'),
  'fqdn-template': list('TEMPLATE', 'names for objects that have none, such as {{.Name}}.example.org'),
  'target-template': list('TEMPLATE', 'targets for them'),
  'fqdn-target-template': list('TEMPLATE', 'names with targets, as NAME:TARGET'),
  'combine-fqdn-annotation': toggle('names from templates beside those of annotations'),
  'ignore-hostname-annotation': toggle('leave annotations with names alone'),
  'ingress-class': list('CLASS', 'only ingresses of this class'),
  'ignore-ingress-tls-spec': toggle('no names from spec.tls of ingresses'),
  'ignore-ingress-rules-spec': toggle('no names from spec.rules of ingresses'),
  'service-type-filter': list('TYPE', 'only services of this type'),
  'publish-internal-services': toggle('names of ClusterIP services too'),
  'publish-host-ip': toggle('addresses of nodes for headless services'),
  'always-publish-not-ready-addresses': toggle('pods of headless services that are not ready too'),
  'expose-internal-ipv6': toggle('internal IPv6 addresses of nodes'),
  'exclude-unschedulable': toggle('leave unschedulable nodes out; on unless switched off', true),
  'gateway-name': text('NAME', 'only routes of the gateway of this name'),
  'gateway-namespace': text('NAME', 'only routes of gateways in this namespace'),
  'gateway-label-filter': text('SELECTOR', 'only routes of gateways with such labels'),
  'crd-source-apiversion': text(
    'GROUP/VERSION',
    'of the objects of source crd; externaldns.k8s.io/v1alpha1 unless given',
  ),
  'crd-source-kind': text('KIND', 'of the objects of source crd; DNSEndpoint unless given'),
  'default-targets': list('TARGET', 'targets of DNSEndpoints that have none'),
  'force-default-targets': toggle('and of everything else'),
  'target-net-filter': list('CIDR', 'only targets in this network'),
  'exclude-target-net': list('CIDR', 'no targets in this network'),
  'domain-filter': list('DOMAIN', 'only names in this domain'),
  'exclude-domains': list('DOMAIN', 'no names in this domain'),
  'regex-domain-filter': text('REGEXP', 'only names that match; takes the place of --domain-filter'),
  'regex-domain-exclusion': text('REGEXP', 'no names that match'),
  'managed-record-types': list('TYPE', 'only records of this type; A, AAAA and CNAME unless given'),
  'exclude-record-types': list('TYPE', 'no records of this type'),
  'create-ptr': toggle('PTR records for addresses'),
  'min-ttl': text('DURATION', 'TTL of names whose objects have none'),
  policy: text('NAME', 'sync, upsert-only (deletes nothing) or create-only; sync unless given'),
  registry: text(
    'NAME',
    'how ownership is known: value (in the record), txt or noop; value unless given, txt with --provider',
  ),
  'txt-owner-id': text('NAME', 'who owns the names; "default" unless given'),
  'txt-prefix': text('TEXT', 'before the name of a TXT record of ownership'),
  'txt-suffix': text('TEXT', 'after its first label'),
  'txt-wildcard-replacement': text('TEXT', 'instead of * in its name'),
  'txt-encrypt-enabled': toggle('encrypt TXT records of ownership'),
  'txt-encrypt-aes-key': text('KEY', '32 bytes, plain or in base64; EXTERNAL_DNS_TXT_ENCRYPT_AES_KEY is better'),
  'migrate-from-txt-owner': text('NAME', 'take names of this owner over'),
  'coredns-prefix': text('PREFIX', 'what keys begin with; /skydns/ unless given'),
  'coredns-strictly-owned': toggle('ownership in the record, beside the registry'),
  interval: text('DURATION', 'everything is compared that often, as a safety net, 1s or more; 1m unless given'),
  once: toggle('do what is to be done and end'),
  'dry-run': toggle('print what would be done'),
  'metrics-address': text('ADDR:PORT', 'serve /metrics and /healthz there, nowhere if empty; :7979 with --provider'),
  'log-level': text('LEVEL', 'panic, fatal, error, warning, info, debug or trace; info unless given'),
} as const satisfies Readonly<Record<string, Flag>>

/** Taken so that command lines need not change; here there is nothing for them to do. */
const WITHOUT_EFFECT = {
  events: toggle('always on: changes are followed as they happen'),
  'min-event-sync-interval': text('DURATION', 'nothing to wait for: only names that changed are looked at'),
  'listen-endpoint-events': toggle('always on'),
  'txt-cache-interval': text('DURATION', 'nothing to cache: etcd is followed'),
  'provider-cache-time': text('DURATION', 'nothing to cache: etcd is followed'),
  'batch-change-size': text('N', 'writes are batched as etcd takes them'),
  'batch-change-interval': text('DURATION', 'writes are batched as etcd takes them'),
  'request-timeout': text('DURATION', 'requests have limits of their own'),
  'kube-api-request-timeout': text('DURATION', 'requests have limits of their own'),
  'kube-api-qps': text('N', 'few requests are made'),
  'kube-api-burst': text('N', 'few requests are made'),
  'prefer-alias': toggle('records in etcd have no such thing'),
  'zone-id-filter': list('ID', 'etcd has no zones'),
  'zone-name-filter': list('ZONE', 'etcd has no zones'),
  'tls-ca': text('FILE', 'for other providers; ETCD_CA_FILE is for etcd'),
  'tls-client-cert': text('FILE', 'for other providers; ETCD_CERT_FILE is for etcd'),
  'tls-client-cert-key': text('FILE', 'for other providers; ETCD_KEY_FILE is for etcd'),
  'pod-source-domain': text('DOMAIN', 'for a source that is not there'),
  'ignore-non-host-network-pods': toggle('for a source that is not there'),
  'openshift-router-name': text('NAME', 'for a source that is not there'),
  'gloo-namespace': list('NAME', 'for a source that is not there'),
  'skipper-routegroup-groupversion': text('GROUP/VERSION', 'for a source that is not there'),
  'connector-source-server': text('ADDR:PORT', 'for a source that is not there'),
  'traefik-enable-legacy': toggle('for a source that is not there'),
  'traefik-disable-new': toggle('for a source that is not there'),
  'unstructured-resource': list('RESOURCE', 'for a source that is not there'),
} as const satisfies Readonly<Record<string, Flag>>

/** Names are right without them, but somebody might wait for what does not come: the log says so. */
export const UNMET = {
  'events-emit': list('EVENT', 'Kubernetes gets no events from here'),
  'log-format': text('FORMAT', 'lines of the log are text'),
} as const satisfies Readonly<Record<string, Flag>>

/** Without them names would be others than expected. */
export const REFUSED = {
  'gateway-listener-sets': toggle('ListenerSets are not followed'),
  'nat64-networks': list('CIDR', 'no A records are made of AAAA records'),
  'resolve-service-load-balancer-hostname': toggle(
    'names of load balancers are not looked up, they become CNAME records',
  ),
  compatibility: text('PROGRAM', 'annotations of Mate, Molecule and kOps are not read'),
} as const satisfies Readonly<Record<string, Flag>>

export const EXTERNAL_DNS_FLAGS = { ...FLAGS, ...WITHOUT_EFFECT, ...UNMET, ...REFUSED }

/** Names of flags of a kind. */
export type Named<Kind extends Flag['kind']> = {
  [Name in keyof typeof EXTERNAL_DNS_FLAGS]: (typeof EXTERNAL_DNS_FLAGS)[Name]['kind'] extends Kind ? Name : never
}[keyof typeof EXTERNAL_DNS_FLAGS]

/** As options of a command. */
export function externalDnsOptions(): Record<string, Option> {
  return Object.fromEntries(
    Object.entries<Flag>(EXTERNAL_DNS_FLAGS).flatMap(([name, flag]): [string, Option][] => {
      const summary = Object.hasOwn(REFUSED, name) ? `refused: ${flag.summary}` : flag.summary
      if (flag.kind === 'text') return [[name, { value: flag.value, summary }]]
      if (flag.kind === 'list') return [[name, { value: flag.value, summary, repeat: true }]]
      const off: Option = { summary: `--${name}=false` }
      return [
        [name, { value: 'BOOL', bare: 'true', summary }],
        [`no-${name}`, off],
      ]
    }),
  )
}
