// Which objects count: those that the annotation filter selects, unless they are for another controller.

import type { KubeObject, Selection } from '../../kube/resource.ts'
import { matchesSelector, parseSelector } from '../../kube/selector.ts'
import { annotationsByFirstPrefix, isForAnotherController, readAnnotations } from './annotations.ts'
import type { SourceSettings } from './source-settings.ts'

/** Throws a HoldfastError when the filter cannot be read. */
export function objectFilter(settings: SourceSettings): (object: KubeObject) => boolean {
  const { annotationFilter = '', annotationPrefixes } = settings
  const selector = parseSelector(annotationFilter)
  return (object) =>
    !isForAnotherController(readAnnotations(object, annotationPrefixes)) &&
    (selector.length === 0 || matchesSelector(selector, annotationsByFirstPrefix(object, annotationPrefixes)))
}

/** What the API server is asked for, so that it sends nothing else. */
export function selectedBy({ namespace, labelFilter = '' }: SourceSettings): Omit<Selection, 'resource'> {
  parseSelector(labelFilter)
  return { ...(namespace !== undefined && { namespace }), ...(labelFilter !== '' && { labelSelector: labelFilter }) }
}
