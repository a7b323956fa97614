// The sources `kubevirt` and `kubernetes` of names.yaml. Keys of the latter are ExternalDNS's flags with underscores.

import { isIP } from 'node:net'
import { z } from 'zod'
import { flag, list, map, path, text, ttl, written } from '../../document/values.ts'
import { domain, zones } from './values.ts'

const access = {
  kubeconfig: path
    .optional()
    .describe(
      'How to reach the API server. Unless given: `KUBECONFIG`, else `~/.kube/config`, else the service account of the pod.',
    ),
  context: text('the name of a context')
    .optional()
    .describe('A context of the kubeconfig, where it is not the current one.'),
}

const address = written(
  (each) => (isIP(each) === 0 ? undefined : each),
  'address',
  'an address',
  'an address such as 192.0.2.1 or 2001:db8::1',
)
const addresses = list(address, 'a list of addresses, such as [192.0.2.1]')

/** The value itself, or the variable that has it: `{ env: DOMAIN }`. */
function orVariable<T extends z.ZodType>(value: T, wanted: string) {
  const variable = map({
    env: text('the name of a variable').describe('Name of an environment variable that holds it.'),
  })
  return z.union([value, variable], { error: `${wanted}, or { env: VARIABLE }` })
}

const selector = (of: string) => text('a label selector, such as app=web').optional().describe(of)
const words = (wanted: string) => list(text('a word'), wanted)
const templates = z
  .union([text('a template'), words('a list of templates')], { error: 'a template, or a list of them' })
  .transform((value): readonly string[] => (typeof value === 'string' ? [value] : value))
  .optional()

const seconds = (standard: string, of: string) => ttl({ from: '1s' }).prefault(standard).describe(of)

export const kubevirtFields = {
  ...access,
  domain: orVariable(domain, 'a domain name')
    .optional()
    .describe('What follows `vm` in the names, as `DOMAIN` of KubeSecondaryDNS. The zone is `vm`, or `vm.DOMAIN`.'),
  name_server_ip: orVariable(addresses, 'a list of addresses')
    .optional()
    .describe(
      'Public addresses of this server: the zone gets an NS record `ns` with them. None unless given. A variable has commas between several.',
    ),
  ttl: ttl({ from: '1s', to: '24h' }).prefault('30s').describe('TTL of the names.'),
  soa: map({
    refresh: seconds('1h', 'When secondaries look again.'),
    retry: seconds('1h', 'When they try again after a failure.'),
    expire: seconds('336h', 'When they give up.'),
    minimum: seconds('30s', 'How long a denial may be remembered.'),
  })
    .prefault({})
    .describe('Numbers of the SOA record.'),
  addresses: z
    .enum(['all', 'first'])
    .prefault('all')
    .describe('Every address of an interface, or only the first, as KubeSecondaryDNS has it.'),
  namespaces: words('a list of namespaces').optional().describe('Only virtual machines of these namespaces.'),
  label_filter: selector('Only virtual machines with such labels.'),
}

export const kubernetesFields = {
  ...access,
  from: list(
    z.enum(
      [
        'ingress',
        'service',
        'node',
        'crd',
        'gateway-httproute',
        'gateway-grpcroute',
        'gateway-tlsroute',
        'gateway-tcproute',
        'gateway-udproute',
      ],
      { error: 'ingress, service, node, crd, or gateway-httproute, -grpcroute, -tlsroute, -tcproute, -udproute' },
    ),
    'a list of kinds, such as [ingress, service]',
  ).describe('Which objects give names.'),
  zones: zones.describe('Zones to answer for. Names outside of them are left alone.'),
  ttl: ttl({ from: '1s', to: '24h' }).prefault('30s').describe('TTL of names whose objects have no annotation for it.'),
  nameservers: list(domain, 'a list of names, such as [ns1.example.org]')
    .optional()
    .describe('Names of the servers of the zones, for their NS records. None unless given.'),
  default_targets: words('a list of addresses or names').optional().describe('Targets of DNSEndpoints that have none.'),
  namespace: text('a namespace').optional().describe('Only objects of this namespace.'),
  annotation_filter: selector('Only objects with such annotations.'),
  label_filter: selector('Only objects with such labels.'),
  fqdn_template: templates.describe('Go templates for names, such as `{{.Name}}.{{.Namespace}}.example.org`.'),
  target_template: templates.describe('Go templates for targets.'),
  fqdn_target_template: templates.describe('Go templates for pairs of name and target, with a colon between them.'),
  combine_fqdn_annotation: flag.prefault(false).describe('Names from templates beside those of annotations and specs.'),
  ignore_hostname_annotation: flag.prefault(false).describe('Leave annotations with names alone.'),
  ingress_class: words('a list of classes').optional().describe('Only ingresses of these classes.'),
  ignore_ingress_tls_spec: flag.prefault(false).describe('No names from `spec.tls` of ingresses.'),
  ignore_ingress_rules_spec: flag.prefault(false).describe('No names from `spec.rules` of ingresses.'),
  service_type_filter: list(
    z.enum(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'], {
      error: 'ClusterIP, NodePort, LoadBalancer or ExternalName',
    }),
    'a list of types of services',
  )
    .optional()
    .describe('Only services of these types.'),
  publish_internal_services: flag.prefault(false).describe('Names of ClusterIP services too.'),
  publish_host_ip: flag.prefault(false).describe('Addresses of nodes for headless services.'),
  always_publish_not_ready_addresses: flag
    .prefault(false)
    .describe('Pods of headless services that are not ready too.'),
  expose_internal_ipv6: flag.prefault(false).describe('Internal IPv6 addresses of nodes.'),
  exclude_unschedulable: flag.prefault(true).describe('Leave unschedulable nodes out.'),
  gateway_name: text('a name').optional().describe('Only routes of the gateway of this name.'),
  gateway_namespace: text('a namespace').optional().describe('Only routes of gateways in this namespace.'),
  gateway_label_filter: selector('Only routes of gateways with such labels.'),
}
