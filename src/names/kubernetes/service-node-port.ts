// Where NodePort services can be reached: on every node, or with the traffic policy Local on the nodes that run pods of
// the service. An SRV record tells the port.

import type { Endpoint } from '../endpoints/endpoint.ts'
import { usableHostnames } from './hostname-check.ts'
import { endpointOf } from './hostname-endpoints.ts'
import { type NodeAddresses, publicAddresses } from './node-object.ts'
import type { NamedService } from './service-named.ts'
import { isLocalNodePort, type Pod } from './service-objects.ts'

export function nodePortTargets(named: NamedService): readonly string[] {
  const { service, relations, settings, annotations, problems } = named
  const addresses = isLocalNodePort(service) ? localAddresses(named) : relations.everyNode
  const access = annotations.get('access')
  switch (access) {
    case 'public':
      return publicAddresses(addresses, settings)
    case 'private':
      return addresses.internal
    case undefined:
      break
    default:
      problems.unusable('access', access, 'expected public or private', 'public addresses are used if there are any')
  }
  return addresses.external.length > 0 ? publicAddresses(addresses, settings) : addresses.internal
}

/** Of the nodes whose pods are in the best state that any node has to offer. */
function localAddresses({ key, service, relations }: NamedService): NodeAddresses {
  const states = new Map<string, number>()
  for (const pod of relations.podsSelectedBy(key, service)) {
    const nodeName = pod.spec?.nodeName ?? ''
    if (relations.node(nodeName) !== undefined)
      states.set(nodeName, Math.max(podState(pod), states.get(nodeName) ?? POD_STATE.notRunning))
  }
  const best = Math.max(POD_STATE.running, ...states.values())
  const nodes = Array.from(states, ([name, state]) => (state === best ? relations.node(name) : undefined))
  return relations.addressesOf(nodes.filter((node) => node !== undefined))
}

/** The higher, the better. */
const POD_STATE = { notRunning: 0, running: 1, readyButEnding: 2, ready: 3 } as const

function podState({ metadata, status }: Pod): number {
  if (status?.phase !== 'Running') return POD_STATE.notRunning
  if (status.conditions?.find(({ type }) => type === 'Ready')?.status !== 'True') return POD_STATE.running
  return metadata.deletionTimestamp === undefined ? POD_STATE.ready : POD_STATE.readyButEnding
}

/** `_web._tcp.<hostname>` with the port of the nodes. */
export function nodePortRecords(hostname: string, { service, details, problems }: NamedService): Endpoint[] {
  return (service.spec?.ports ?? []).flatMap(({ nodePort = 0, protocol = 'TCP' }) => {
    if (nodePort === 0) return []
    const name = `_${service.metadata.name}._${protocol.toLowerCase() || 'tcp'}.${hostname}`
    const target = `0 50 ${nodePort} ${hostname}.`
    return usableHostnames([name], problems).map((usable) => endpointOf(usable, 'SRV', [target], details))
  })
}
