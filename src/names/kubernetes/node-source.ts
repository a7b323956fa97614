// Names of nodes: their own, or those of a template. They lead to the external addresses, to the internal ones of a node
// that has no external, or to the annotated targets.

import type { Endpoint } from '../endpoints/endpoint.ts'
import { annotatedList, annotatedTtl, readAnnotations } from './annotations.ts'
import { objectFilter, selectedBy } from './annotations-filter.ts'
import type { EndpointSource, RootEndpoints } from './endpoint-source.ts'
import { usableHostnames, usableTargets } from './hostname-check.ts'
import { type EndpointDetails, endpointsForHostname } from './hostname-endpoints.ts'
import { keeper } from './kept-object.ts'
import { keptNodeParts, type Node, NODES, nodeAddresses, publicAddresses } from './node-object.ts'
import { ObjectProblems } from './object-problems.ts'
import type { SourceSettings } from './source-settings.ts'
import type { NameTemplates } from './template/name-templates.ts'
import { TemplatedEndpoints } from './templated-endpoints.ts'

export function nodeSource(settings: SourceSettings, templates: NameTemplates): EndpointSource {
  const isOurs = objectFilter(settings)
  const templated = new TemplatedEndpoints(settings, templates, NODES.kind)
  const nodes = new Map<string, Node>()
  // Nodes are in no namespace.
  const { namespace: _, ...selected } = selectedBy(settings)

  return {
    name: 'node',
    follows: [{ resource: NODES, ...selected, keep: keeper(settings, templates, keptNodeParts) }],
    apply({ key, object }) {
      const root = `node/${key}`
      if (object !== undefined && isOurs(object) && !isExcluded(object, settings)) nodes.set(root, object)
      else nodes.delete(root)
      return [root]
    },
    endpoints(root) {
      const node = nodes.get(root)
      return node === undefined ? { endpoints: [], problems: [] } : nodeEndpoints(node, root, settings, templated)
    },
  }
}

function isExcluded({ spec }: Node, { excludeUnschedulable }: SourceSettings): boolean {
  return excludeUnschedulable && spec?.unschedulable === true
}

function nodeEndpoints(
  node: Node,
  root: string,
  settings: SourceSettings,
  templated: TemplatedEndpoints,
): RootEndpoints {
  const { name } = node.metadata
  const problems = new ObjectProblems('node', name)
  const annotations = readAnnotations(node, settings.annotationPrefixes)
  const recordTTL = annotatedTtl(annotations, problems)
  const details: EndpointDetails = { resource: root, ...(recordTTL !== undefined && { recordTTL }) }
  const annotated = annotatedList(annotations, 'target')
  const targets = usableTargets(annotated.length > 0 ? annotated : preferredAddresses(node, settings), problems)
  if (targets.size === 0) problems.add(`Cannot find an address of node ${name}: it has no names until it has one`)
  const endpointsOf = (hostnames: readonly string[]) =>
    hostnames.flatMap((hostname) => endpointsForHostname(hostname, targets, details)).flatMap(oneAlias)

  const byName = !hasNameTemplate(settings) || settings.combineFqdnAnnotation
  const own = byName ? endpointsOf(usableHostnames([name], problems)) : []
  const paired = templated.withPairs(own, node, problems)
  const endpoints = templated.withHostnames(paired, node, problems, endpointsOf)
  return { endpoints, problems: problems.sentences }
}

/** Targets alone are no names. */
function hasNameTemplate({ fqdnTemplates, fqdnTargetTemplates }: SourceSettings): boolean {
  return [...fqdnTemplates, ...fqdnTargetTemplates].some((template) => template.trim() !== '')
}

function preferredAddresses(node: Node, settings: SourceSettings): readonly string[] {
  const addresses = nodeAddresses([node])
  return addresses.external.length > 0 ? publicAddresses(addresses, settings) : addresses.internal
}

/** Several aliases are rivals, not one record with several targets. */
function oneAlias(endpoint: Endpoint): Endpoint[] {
  if (endpoint.recordType !== 'CNAME') return [endpoint]
  return endpoint.targets.map((target) => ({ ...endpoint, targets: [target] }))
}
