// The templates of --fqdn-template, --target-template and --fqdn-target-template: names and targets made from an object.
// Several of one flag are joined by commas, as ExternalDNS does; what comes out is a list by commas.

import type { KubeObject } from '../../../kube/resource.ts'
import { objectKey } from '../../../kube/resource.ts'
import { HoldfastError } from '../../../lib/errors.ts'
import type { SourceSettings } from '../source-settings.ts'
import { BUILTINS } from './builtin-functions.ts'
import { executeTemplate } from './execute-template.ts'
import { NAME_FUNCTIONS } from './name-functions.ts'
import { objectValue, sourceOfKind } from './object-value.ts'
import { parseTemplate } from './parse-template.ts'
import { placeOf, TemplateError } from './template-error.ts'

export interface NamePair {
  readonly hostname: string
  readonly target: string
}

/** Each throws a HoldfastError `TemplateInvalid` where a template cannot be worked out for the object. */
export interface NameTemplates {
  hostnames(object: KubeObject, kind: string): readonly string[]
  targets(object: KubeObject, kind: string): readonly string[]
  pairs(object: KubeObject, kind: string): readonly NamePair[]
  /** No template is set at all. */
  readonly isEmpty: boolean
}

/** Names made by one flag's templates; sorted, each once. */
type ListTemplate = (object: KubeObject, kind: string) => readonly string[]

type NameTemplateSettings = Pick<SourceSettings, 'fqdnTemplates' | 'targetTemplates' | 'fqdnTargetTemplates'>

export function nameTemplates(settings: NameTemplateSettings): NameTemplates {
  const hostnames = listTemplate(settings.fqdnTemplates)
  const targets = listTemplate(settings.targetTemplates)
  const pairs = listTemplate(settings.fqdnTargetTemplates)
  return {
    hostnames: hostnames ?? none,
    targets: targets ?? none,
    pairs: (object, kind) => (pairs?.(object, kind) ?? []).flatMap(pairOf),
    isEmpty: hostnames === undefined && targets === undefined && pairs === undefined,
  }
}

function none(): readonly string[] {
  return []
}

function listTemplate(templates: readonly string[]): ListTemplate | undefined {
  const text = templates.join(',')
  if (text.trim() === '') return undefined
  const nodes = explained(`read template ${JSON.stringify(text)}`, text, () => parseTemplate(text, isFunction))
  return (object, kind) =>
    explained(`apply template ${JSON.stringify(text)} to ${kind} ${objectKey(object.metadata)}`, text, () =>
      listOf(executeTemplate(nodes, objectValue(object, kind), { functions: FUNCTIONS, source: sourceOfKind(kind) })),
    )
}

/** By commas; without spaces and final dots around, each once, sorted. */
function listOf(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim().replace(/\.$/u, ''))
  return [...new Set(names.filter((name) => name !== ''))].toSorted()
}

/** `name:target`; a pair with an empty side is about something that is not there yet. */
function pairOf(text: string): NamePair[] {
  const colon = text.indexOf(':')
  const hostname = text.slice(0, Math.max(colon, 0)).trim()
  const target = text.slice(colon + 1).trim()
  return hostname === '' || target === '' ? [] : [{ hostname, target }]
}

const FUNCTIONS = { ...BUILTINS, ...NAME_FUNCTIONS }

function isFunction(name: string): boolean {
  return name === 'and' || name === 'or' || Object.hasOwn(FUNCTIONS, name)
}

function explained<T>(action: string, text: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const place = error.at === undefined ? '' : `${placeOf(text, error.at)}: `
    throw new HoldfastError('TemplateInvalid', `Cannot ${action}: ${place}${error.message}`, { cause: error })
  }
}
