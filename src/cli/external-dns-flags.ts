// The flags of ExternalDNS that make sense with its CoreDNS provider, and its variables EXTERNAL_DNS_*: a flag wins over
// its variable. Switches are on with `--x` or `--x=true`, off with `--no-x` or `--x=false`; a variable holds several
// values in several lines.

import { parseDuration } from '../document/notation.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { Io, Option } from './command.ts'

type Flag =
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
  interval: text('DURATION', 'everything is compared that often, as a safety net; 1m unless given'),
  once: toggle('do what is to be done and end'),
  'dry-run': toggle('print what would be done'),
  'metrics-address': text('ADDR:PORT', 'serve /metrics and /healthz there; :7979 with --provider'),
  'log-level': text('LEVEL', 'panic, fatal, error, warning, info or debug; info unless given'),
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
  'log-format': text('FORMAT', 'lines of text'),
} as const satisfies Readonly<Record<string, Flag>>

const ALL: Readonly<Record<string, Flag>> = { ...FLAGS, ...WITHOUT_EFFECT }

type Named<Kind extends Flag['kind']> = {
  [Name in keyof typeof FLAGS]: (typeof FLAGS)[Name]['kind'] extends Kind ? Name : never
}[keyof typeof FLAGS]

/** As options of a command. */
export function externalDnsOptions(): Record<string, Option> {
  return Object.fromEntries(
    Object.entries(ALL).flatMap(([name, flag]): [string, Option][] => {
      if (flag.kind === 'text') return [[name, { value: flag.value, summary: flag.summary }]]
      if (flag.kind === 'list') return [[name, { value: flag.value, summary: flag.summary, repeat: true }]]
      const off: Option = { summary: `--${name}=false` }
      return [
        [name, { value: 'BOOL', bare: 'true', summary: flag.summary }],
        [`no-${name}`, off],
      ]
    }),
  )
}

type Given = Readonly<Record<string, unknown>>

export class ExternalDnsFlags {
  readonly #given: Given
  readonly #env: Io['env']

  constructor(given: Given, env: Io['env']) {
    this.#given = given
    this.#env = env
  }

  text(name: Named<'text'>): string | undefined {
    return (this.#given[name] as string | undefined) ?? this.#variable(name)
  }

  /** An empty value stands for none, as in many a manifest. */
  list(name: Named<'list'>): readonly string[] {
    const given = this.#given[name] as readonly string[]
    const values = given.length > 0 ? given : (this.#variable(name)?.split('\n') ?? [])
    return values.filter((value) => value !== '')
  }

  flag(name: Named<'switch'>): boolean {
    return this.switched(name) ?? FLAGS[name].standard
  }

  /** Undefined when it is switched neither on nor off. */
  switched(name: Named<'switch'>): boolean | undefined {
    if (this.#given[`no-${name}`] === true) return false
    const word = (this.#given[name] as string | undefined) ?? this.#variable(name)
    if (word === undefined) return undefined
    if (/^(?:1|t|true)$/iu.test(word)) return true
    if (/^(?:0|f|false)$/iu.test(word)) return false
    throw new HoldfastError('Usage', `Cannot read "${word}" as --${name}: true or false is wanted`)
  }

  /** One of these words. */
  choice<const Word extends string>(name: Named<'text'>, words: readonly Word[]): Word | undefined {
    const given = this.text(name)
    if (given === undefined) return undefined
    const word = words.find((each) => each === given.toLowerCase())
    if (word !== undefined) return word
    throw new HoldfastError('Usage', `Cannot use --${name} "${given}": ${words.join(', ')} are known`)
  }

  /** Milliseconds; a bare number is seconds. */
  duration(name: Named<'text'>): number | undefined {
    const given = this.text(name)
    if (given === undefined) return undefined
    const ms = /^\d+$/u.test(given) ? Number(given) * 1000 : parseDuration(given)
    if (ms !== undefined) return ms
    throw new HoldfastError('Usage', `Cannot read "${given}" as --${name}: a duration such as 30s or 1m is wanted`)
  }

  #variable(name: string): string | undefined {
    const value = this.#env[`EXTERNAL_DNS_${name.toUpperCase().replaceAll('-', '_')}`]
    return value === '' ? undefined : value
  }
}
