// What is remembered of objects. Templates may read anything, so with them an object is kept but for its noise; without
// them only what the sources themselves read, which is a small part.

import type { KubeObject, ObjectMeta } from '../../kube/resource.ts'
import type { SourceSettings } from './source-settings.ts'
import type { NameTemplates } from './template/name-templates.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** `parts` gives what a source reads beside the metadata; `alsoAnnotated` are annotations that are not ExternalDNS's. */
export function keeper<Kind extends KubeObject>(
  settings: SourceSettings,
  templates: NameTemplates,
  parts: (object: Kind) => Omit<Kind, 'metadata'>,
  alsoAnnotated: readonly string[] = [],
): (object: KubeObject) => KubeObject {
  if (!templates.isEmpty) return withoutNoise
  const keepsAnnotation = annotationKeeper(settings, alsoAnnotated)
  return (object) => ({ metadata: keptMetadata(object.metadata, keepsAnnotation), ...parts(object as Kind) })
}

export function keptMetadata(metadata: ObjectMeta, keepsAnnotation: (key: string) => boolean): ObjectMeta {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => keepsAnnotation(key))
  return {
    name: metadata.name,
    ...pick(metadata, ['namespace']),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
  }
}

function annotationKeeper(
  { annotationFilter = '', annotationPrefixes }: SourceSettings,
  alsoAnnotated: readonly string[],
): (key: string) => boolean {
  if (annotationFilter !== '') return isNoNoise
  return (key) => alsoAnnotated.includes(key) || annotationPrefixes.some((prefix) => key.startsWith(prefix))
}

function withoutNoise(object: KubeObject): KubeObject {
  const { managedFields: _, annotations: __, ...rest } = object.metadata as ObjectMeta & { managedFields?: unknown }
  return { ...object, metadata: { ...rest, ...keptMetadata(object.metadata, isNoNoise) } }
}

function isNoNoise(annotation: string): boolean {
  return annotation !== LAST_APPLIED
}

/** The fields of these names, where they are there. */
export function pick<Fields extends object, Name extends keyof Fields>(
  fields: Fields | undefined,
  names: readonly Name[],
): Partial<Pick<Fields, Name>> {
  const there = names.filter((name) => fields?.[name] !== undefined)
  return Object.fromEntries(there.map((name) => [name, fields?.[name]])) as Partial<Pick<Fields, Name>>
}
