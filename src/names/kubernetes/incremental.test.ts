// Whatever happens to objects and in whatever order: what a source says afterwards is what it would say if it had been
// told of the final objects only.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type KubeObject, objectKey } from '../../kube/resource.ts'
import type { EndpointSource, RootEndpoints } from './endpoint-source.ts'
import { ingressSource } from './ingress-source.ts'
import { nodeSource } from './node-source.ts'
import { serviceSource } from './service-source.ts'
import { nameTemplates } from './template/name-templates.ts'
import { apply, applyAll, randomObject, randomSettings, type TestObject } from './testing.ts'

const randomSteps = fc.array(fc.record({ object: randomObject, gone: fc.nat(3).map((n) => n === 0) }), {
  maxLength: 80,
  size: 'max',
})

describe.each([
  ['ingress', ingressSource],
  ['service', serviceSource],
  ['node', nodeSource],
] as const)('source %s', (_, make) => {
  it('says after many changes what it says of the final objects', () => {
    fc.assert(
      fc.property(randomSettings, randomSteps, (settings, steps) => {
        const source = make(settings, nameTemplates(settings))
        const final = new Map<string, TestObject>()
        const told = new Map<string, RootEndpoints>()
        for (const { object, gone } of steps) {
          const key = objectKey(object.metadata)
          const name = `${object.kind} ${key}`
          if (gone) final.delete(name)
          else final.set(name, object)
          for (const root of apply(source, object.kind, key, gone ? undefined : object))
            told.set(root, source.endpoints(root))
          // Whatever it did not name has not changed.
          for (const [root, before] of told) expect(source.endpoints(root)).toEqual(before)
        }
        const fresh = make(settings, nameTemplates(settings))
        const roots = applyAll(fresh, [...final.values()])
        expect(significant(told)).toEqual(significant(roots.map((root) => [root, fresh.endpoints(root)])))
      }),
      { numRuns: 60 },
    )
  })

  it('says the same of what it keeps as of whole objects, and keeps nothing more the second time', () => {
    fc.assert(
      fc.property(randomSettings, fc.array(randomObject, { maxLength: 40, size: 'max' }), (settings, objects) => {
        const whole = make(settings, nameTemplates(settings))
        const kept = make(settings, nameTemplates(settings))
        const roots = applyAll(kept, objects)
        applyWhole(whole, objects)
        for (const root of roots) expect(kept.endpoints(root)).toEqual(whole.endpoints(root))
        for (const followed of kept.follows)
          for (const object of objects.filter(({ kind }) => kind === followed.resource.kind))
            expect(followed.keep(readBack(followed.keep(object)))).toEqual(followed.keep(object))
      }),
      { numRuns: 40 },
    )
  })
})

/** In no order; roots that stand for nothing do not count. */
function significant(results: Iterable<readonly [string, RootEndpoints]>): unknown {
  const there = [...results].filter(([, { endpoints, problems }]) => endpoints.length > 0 || problems.length > 0)
  return Object.fromEntries(
    there.map(([root, { endpoints, problems }]) => [
      root,
      [...endpoints.map((endpoint) => JSON.stringify(endpoint)), ...problems].toSorted(),
    ]),
  )
}

function applyWhole(source: EndpointSource, objects: readonly TestObject[]): void {
  for (const object of objects) {
    const followed = source.follows.find(({ resource }) => resource.kind === object.kind)
    if (followed !== undefined) source.apply({ resource: followed.resource, key: objectKey(object.metadata), object })
  }
}

/** From the state on disk. */
function readBack(object: KubeObject): KubeObject {
  return JSON.parse(JSON.stringify(object)) as KubeObject
}
