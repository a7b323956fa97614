// What the API server refused, as one sentence with what is missing: which permission, which definition, which version.

import { HoldfastError } from '../lib/errors.ts'
import type { Access } from './connection.ts'
import { resourceAt } from './paths.ts'
import { resourceName } from './resource.ts'

/** The object that the API explains refusals with. */
export interface Status {
  readonly kind: 'Status'
  readonly code?: number
  readonly message?: string
  readonly reason?: string
  readonly details?: { readonly name?: string; readonly kind?: string }
}

/** An answer that is no success; the cause of the error that people see. */
export class StatusFailure extends Error {
  readonly status: number
  /** Undefined where something else than the API answered, or the path leads nowhere. */
  readonly details: Status | undefined

  constructor(status: number, details: Status | undefined, message: string) {
    super(message)
    this.name = 'StatusFailure'
    this.status = status
    this.details = details
  }
}

export interface Task {
  /** What is being done: `list services`. */
  readonly what: string
  readonly path: string
  readonly access: Access
}

const LONGEST_MESSAGE = 300

export function explainStatus(task: Task, code: number, body: string): HoldfastError {
  const details = parseStatus(body)
  const message = (details?.message ?? body.split('\n', 1)[0]).slice(0, LONGEST_MESSAGE)
  return explainFailure(task, new StatusFailure(code, details, message))
}

/** The same refusal may come as the answer to a request, or in the middle of a watch. */
export function explainFailure({ what, path, access }: Task, cause: StatusFailure): HoldfastError {
  const { status, details, message } = cause
  const place = `the API server at "${access.server}"`
  const says = `Cannot ${what}: ${place} says "${message}" (${status})`
  switch (status) {
    case 401:
      return new HoldfastError(
        'KubeUnauthorized',
        `Cannot ${what}: ${place} does not accept the credentials of ${access.origin}; expected valid ones`,
        { cause },
      )
    case 403:
      return explainForbidden(what, cause)
    case 404:
      return details === undefined
        ? explainMissing(what, place, path, cause)
        : new HoldfastError('KubeFailed', says, { cause })
    case 409:
      return new HoldfastError('KubeConflict', says, { cause, retryable: true })
    case 410:
      return new HoldfastError('KubeGone', says, { cause, retryable: true })
    default:
      return new HoldfastError('KubeFailed', says, { cause, retryable: status === 429 || status >= 500 })
  }
}

export function isNamedObjectMissing(error: unknown): boolean {
  if (!(error instanceof HoldfastError) || !(error.cause instanceof StatusFailure)) return false
  return error.cause.status === 404 && error.cause.details?.reason === 'NotFound'
}

function parseStatus(body: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return (value as Status | null)?.kind === 'Status' ? (value as Status) : undefined
  } catch {
    return undefined
  }
}

/** The API says this in the same words whatever decides about permissions. */
const FORBIDDEN =
  /User "(?<user>[^"]*)" cannot (?<verb>\S+) resource "(?<resource>[^"]+)" in API group "(?<group>[^"]*)"(?: in the namespace "(?<namespace>[^"]+)")?/u

/** Whoever may list has to watch next. */
function verbsOf(verb: string): string {
  return verb === 'list' || verb === 'watch' ? '"list", "watch"' : `"${verb}"`
}

function explainForbidden(what: string, cause: StatusFailure): HoldfastError {
  const { user = '', verb, resource, group = '', namespace } = FORBIDDEN.exec(cause.message)?.groups ?? {}
  if (verb === undefined || resource === undefined)
    return new HoldfastError('KubeForbidden', `Cannot ${what}: ${cause.message}`, { cause })
  const scope = namespace === undefined ? 'in all namespaces' : `in namespace "${namespace}"`
  const permission = `${verb} ${resourceName({ plural: resource, group })} ${scope}`
  const role = namespace === undefined ? 'ClusterRole' : `Role in namespace "${namespace}"`
  const rule = `{ apiGroups: ["${group}"], resources: ["${resource}"], verbs: [${verbsOf(verb)}] }`
  const hint =
    user === 'system:anonymous'
      ? 'The API server does not know who asks: give credentials'
      : `Add to a ${role} that is bound to "${user}": ${rule}`
  const text = `Cannot ${what}: user "${user}" may not ${permission}; expected that permission`
  return new HoldfastError('KubeForbidden', text, { hint, cause })
}

function explainMissing(what: string, place: string, path: string, cause: StatusFailure): HoldfastError {
  const resource = resourceAt(path)
  if (resource === undefined)
    return new HoldfastError('KubeFailed', `Cannot ${what}: ${place} has no "${path}"`, { cause })
  const { group, version } = resource
  const name = resourceName(resource)
  const text = `Cannot ${what}: ${place} does not know ${name} in version ${version}; expected its definition`
  const hint = group.includes('.')
    ? `Install the CustomResourceDefinition "${name}" with version ${version}`
    : undefined
  return new HoldfastError('KubeResourceMissing', text, { cause, ...(hint !== undefined && { hint }) })
}
