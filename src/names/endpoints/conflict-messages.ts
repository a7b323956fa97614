// What is said when an endpoint cannot be published, to whoever looks after the object that wants it.

import { type Endpoint, LABEL } from './endpoint.ts'
import { showTargets } from './targets.ts'

export interface Conflict {
  readonly dnsName: string
  /** Whose wish is not met, as in label `resource`. */
  readonly resource?: string
  readonly message: string
}

/** Another resource has the name. */
export function lostTo(winner: Endpoint, loser: Endpoint): Conflict {
  return conflict(loser, `it is ${described(winner)}; give one of them another name, or both the same targets`)
}

export function aliasBeside(other: Endpoint, alias: Endpoint): Conflict {
  return conflict(alias, `it is ${described(other)}; expected a CNAME without other records beside it`)
}

/** Something is there that the policy does not delete. */
export function keptByPolicy(kept: Endpoint, wanted: Endpoint, policy: string): Conflict {
  const wish = `delete it by hand, or use policy "sync" instead of "${policy}"`
  return conflict(wanted, `it is ${described(kept)}, and a CNAME has no other records beside it; ${wish}`)
}

export function ownedByOther(current: Endpoint, wanted: Endpoint): Conflict {
  const owner = current.labels[LABEL.owner] ?? ''
  const state = owner === '' ? 'it is there and belongs to nobody' : `it belongs to owner "${owner}"`
  const wish =
    owner === ''
      ? `delete ${shown(current)} there`
      : `if that is us, use --txt-owner-id=${owner}, or take it over with --migrate-from-txt-owner=${owner}`
  return conflict(wanted, `${state}; ${wish}, or give the object another name`)
}

/** Names of marks can be those of other endpoints as well. */
export function markOfOther(markName: string, wanted: Endpoint): Conflict {
  const state = `its mark of ownership "${markName}" would make somebody else's record ours`
  return conflict(wanted, `${state}; give the object another name, or use another prefix or suffix for marks`)
}

export function markTooLong(markName: string, wanted: Endpoint): Conflict {
  const state = `its mark of ownership "${markName}" is no name`
  return conflict(wanted, `${state}; expected labels of up to 63 bytes, 253 in all`)
}

function conflict(wanted: Endpoint, reason: string): Conflict {
  const { dnsName, labels } = wanted
  const resource = labels[LABEL.resource]
  return {
    ...{ dnsName, message: `Cannot publish "${dnsName}" as ${shown(wanted)}${suffix(' for ', resource)}: ${reason}` },
    ...(resource !== undefined && { resource }),
  }
}

function described(endpoint: Endpoint): string {
  return `${shown(endpoint)}${suffix(' of ', endpoint.labels[LABEL.resource])}`
}

function shown({ recordType, targets }: Endpoint): string {
  return `${recordType} ${showTargets(targets)}`
}

/** `ingress/default/web` as people say it: `ingress default/web`. */
function suffix(preposition: string, resource: string | undefined): string {
  return resource === undefined ? '' : `${preposition}${resource.replace('/', ' ')}`
}
