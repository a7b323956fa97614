// Names made by templates: for objects that have no other, or beside the others when both are to be combined. A template
// that cannot be worked out for an object is a problem of that object alone.

import type { KubeObject } from '../../kube/resource.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { annotationsByFirstPrefix } from './annotations.ts'
import { usableHostnames, usableTargets } from './hostname-check.ts'
import { endpointsForHostname } from './hostname-endpoints.ts'
import type { ObjectProblems } from './object-problems.ts'
import type { SourceSettings } from './source-settings.ts'
import type { NameTemplates } from './template/name-templates.ts'

export class TemplatedEndpoints {
  readonly #templates: NameTemplates
  readonly #kind: string
  readonly #prefixes: readonly string[]
  readonly #combines: boolean

  constructor(settings: SourceSettings, templates: NameTemplates, kind: string) {
    this.#templates = templates
    this.#kind = kind
    this.#prefixes = settings.annotationPrefixes
    this.#combines = settings.combineFqdnAnnotation
  }

  /** Adds what `templated` gives for the names of the template, unless there is something that is not to be combined. */
  withHostnames(
    own: readonly Endpoint[],
    object: KubeObject,
    problems: ObjectProblems,
    templated: (hostnames: readonly string[]) => readonly Endpoint[],
  ): readonly Endpoint[] {
    if (own.length > 0 && !this.#combines) return own
    const names = this.hostnames(object, problems)
    return names.length === 0 ? own : [...own, ...templated(names)]
  }

  /** The names that the template gives. */
  hostnames(object: KubeObject, problems: ObjectProblems): readonly string[] {
    const names = attempt(() => this.#templates.hostnames(this.#readable(object), this.#kind), problems)
    return usableHostnames(names, problems)
  }

  /** The same with the pairs of a template that gives targets, too. */
  withPairs(own: readonly Endpoint[], object: KubeObject, problems: ObjectProblems): readonly Endpoint[] {
    if (own.length > 0 && !this.#combines) return own
    const pairs = attempt(() => this.#templates.pairs(this.#readable(object), this.#kind), problems)
    const paired = pairs.flatMap(({ hostname, target }) =>
      usableHostnames([hostname], problems).flatMap((name) =>
        endpointsForHostname(name, usableTargets([target], problems), {}),
      ),
    )
    return [...own, ...paired]
  }

  #readable(object: KubeObject): KubeObject {
    if (object.metadata.annotations === undefined) return object
    const annotations = annotationsByFirstPrefix(object, this.#prefixes)
    return { ...object, metadata: { ...object.metadata, annotations } }
  }
}

function attempt<Result>(work: () => readonly Result[], problems: ObjectProblems): readonly Result[] {
  try {
    return work()
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown
    problems.add(thrown.message)
    return []
  }
}
