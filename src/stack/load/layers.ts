// A setting can stand in several places of a stack file. Of those that a machine may have for itself the nearest wins; those
// that a cluster has as a whole may be repeated, and then have to agree.

import { isDeepStrictEqual } from 'node:util'
import { formatPath, type Path } from '../../document/located.ts'
import type { StackResolver } from './resolver.ts'

export interface Layer<T> {
  readonly path: Path
  readonly values: T | undefined
}

export interface Given<T> {
  readonly path: Path
  readonly value: T
}

/** Layers are listed from near to far. */
export function nearest<T, K extends keyof T & string>(
  layers: readonly Layer<T>[],
  key: K,
): Given<NonNullable<T[K]>> | undefined {
  return given(layers, key)[0]
}

export function agreed<T, K extends keyof T & string>(
  layers: readonly Layer<T>[],
  key: K,
  resolver: StackResolver,
): Given<NonNullable<T[K]>> | undefined {
  const [first, ...others] = given(layers, key)
  for (const { path, value } of others)
    if (!isDeepStrictEqual(value, first.value))
      resolver.problem(path, `it differs from ${formatPath(first.path)}; expected the same for the whole cluster`)
  return first
}

function given<T, K extends keyof T & string>(layers: readonly Layer<T>[], key: K): Given<NonNullable<T[K]>>[] {
  return layers.flatMap(({ path, values }) => {
    const value = values?.[key]
    return value === undefined || value === null ? [] : [{ path: [...path, key], value }]
  })
}
