// Names of ingresses: the hosts of their rules and of their TLS sections, and those annotated. They lead to what the
// ingress controller reports in the status, or to the annotated targets.

import type { KubeObject, Resource } from '../../kube/resource.ts'
import { parseSelector } from '../../kube/selector.ts'
import { HoldfastError } from '../../lib/errors.ts'
import { type Annotations, annotatedList, endpointDetails, readAnnotations } from './annotations.ts'
import { objectFilter, selectedBy } from './annotations-filter.ts'
import type { EndpointSource, RootEndpoints } from './endpoint-source.ts'
import { usableHostnames, usableTargets } from './hostname-check.ts'
import { endpointsForHostname } from './hostname-endpoints.ts'
import { keeper, pick } from './kept-object.ts'
import { keptLoadBalancer, type LoadBalancerStatus, loadBalancerTargets } from './load-balancer.ts'
import { ObjectProblems } from './object-problems.ts'
import type { SourceSettings } from './source-settings.ts'
import type { NameTemplates } from './template/name-templates.ts'
import { TemplatedEndpoints } from './templated-endpoints.ts'

interface Ingress extends KubeObject, LoadBalancerStatus {
  readonly spec?: {
    readonly ingressClassName?: string
    readonly rules?: readonly { readonly host?: string }[]
    readonly tls?: readonly { readonly hosts?: readonly string[] }[]
  }
}

const INGRESSES: Resource = {
  ...{ group: 'networking.k8s.io', version: 'v1', plural: 'ingresses', kind: 'Ingress', namespaced: true },
}
/** How the class was given before there was a field for it. */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'

export function ingressSource(settings: SourceSettings, templates: NameTemplates): EndpointSource {
  checkClassIsGivenOnce(settings)
  const isOurs = objectFilter(settings)
  const templated = new TemplatedEndpoints(settings, templates, INGRESSES.kind)
  const ingresses = new Map<string, Ingress>()

  return {
    name: 'ingress',
    follows: [
      {
        resource: INGRESSES,
        ...selectedBy(settings),
        keep: keeper(settings, templates, keptParts, [CLASS_ANNOTATION]),
      },
    ],
    apply({ key, object }) {
      const root = `ingress/${key}`
      if (object !== undefined && isOurs(object) && hasClass(object, settings)) ingresses.set(root, object)
      else ingresses.delete(root)
      return [root]
    },
    endpoints(root) {
      const ingress = ingresses.get(root)
      if (ingress === undefined) return { endpoints: [], problems: [] }
      return ingressEndpoints(ingress, root, settings, templated)
    },
  }
}

function ingressEndpoints(
  ingress: Ingress,
  root: string,
  settings: SourceSettings,
  templated: TemplatedEndpoints,
): RootEndpoints {
  const problems = new ObjectProblems('ingress', root.slice('ingress/'.length))
  const annotations = readAnnotations(ingress, settings.annotationPrefixes)
  const details = endpointDetails(annotations, root, problems)
  const annotated = annotatedList(annotations, 'target')
  const targets = usableTargets(annotated.length > 0 ? annotated : loadBalancerTargets(ingress), problems)
  const endpointsOf = (hostnames: readonly string[]) =>
    hostnames.flatMap((hostname) => endpointsForHostname(hostname, targets, details))

  const hosts = ingressHosts(ingress, annotations, settings, problems)
  const own = endpointsOf(usableHostnames(hosts, problems))
  const endpoints = templated.withHostnames(own, ingress, problems, endpointsOf)
  return { endpoints, problems: problems.sentences }
}

function ingressHosts(
  { spec = {} }: Ingress,
  annotations: Annotations,
  settings: SourceSettings,
  problems: ObjectProblems,
): string[] {
  const rules = settings.ignoreIngressRulesSpec ? [] : (spec.rules ?? []).map(({ host = '' }) => host)
  const tls = settings.ignoreIngressTlsSpec ? [] : (spec.tls ?? []).flatMap(({ hosts = [] }) => hosts)
  const defined = [...rules, ...tls].filter((host) => host !== '')
  const annotated = settings.ignoreHostnameAnnotation ? [] : annotatedList(annotations, 'hostname')
  const chosen = annotations.get('ingress-hostname-source')
  switch (chosen?.toLowerCase()) {
    case undefined:
      return [...defined, ...annotated]
    case 'defined-hosts-only':
      return defined
    case 'annotation-only':
      return annotated
    default:
      problems.unusable(
        'ingress-hostname-source',
        chosen ?? '',
        'expected defined-hosts-only or annotation-only',
        'none of its hosts is used',
      )
      return []
  }
}

function hasClass({ spec, metadata }: Ingress, { ingressClassNames }: SourceSettings): boolean {
  if (ingressClassNames.length === 0) return true
  const name = spec?.ingressClassName || metadata.annotations?.[CLASS_ANNOTATION]
  return name !== undefined && ingressClassNames.includes(name)
}

function checkClassIsGivenOnce({ ingressClassNames, annotationFilter = '' }: SourceSettings): void {
  if (ingressClassNames.length === 0) return
  if (!parseSelector(annotationFilter).some(({ key }) => key === CLASS_ANNOTATION)) return
  throw new HoldfastError(
    'Usage',
    `Cannot use annotation filter "${annotationFilter}": it selects by ${CLASS_ANNOTATION} beside --ingress-class; expected one of the two`,
  )
}

function keptParts(ingress: Ingress): Omit<Ingress, 'metadata'> {
  const { rules = [], tls = [], ...spec } = ingress.spec ?? {}
  return {
    spec: {
      ...pick(spec, ['ingressClassName']),
      rules: rules.map((rule) => pick(rule, ['host'])),
      tls: tls.map((each) => pick(each, ['hosts'])),
    },
    ...keptLoadBalancer(ingress),
  }
}
