// The world around a stack file: what names.yaml needs of it, and certificates. A setting that a thousand machines share is
// looked up once.

import { formatPath, type Located, type Path } from '../../document/located.ts'
import { type DocumentContext, Surroundings } from '../../document/surroundings.ts'
import type { PemPlace, SecretPlace } from '../../document/values.ts'
import type { Secret } from '../../lib/secret.ts'
import type { TargetName } from '../stack.ts'

export class StackResolver extends Surroundings {
  readonly #secrets = new Map<string, Secret | undefined>()
  readonly #texts = new Map<string, string>()
  #hasNoEffect = false
  readonly isLocal: boolean

  constructor(document: Located, context: DocumentContext, target: TargetName) {
    super(document, context)
    this.isLocal = target === 'local'
  }

  override secret(place: SecretPlace, path: Path): Secret | undefined {
    return known(this.#secrets, path, () => super.secret(place, path))
  }

  /** Empty for one that cannot be read; the problem is told. */
  pem(place: PemPlace, path: Path): string {
    return known(this.#texts, path, () => {
      if (typeof place === 'string') return place
      return this.read(place.file, [...path, 'file']) ?? ''
    })
  }

  /** Told once for a file: nobody wants to read it for every machine. */
  withoutEffect(path: Path): void {
    if (this.#hasNoEffect || !this.isLocal) return
    this.#hasNoEffect = true
    this.notice(path, `no effect on target local: the clock and the logs are this host's`)
  }
}

function known<T>(values: Map<string, T>, path: Path, find: () => T): T {
  const key = formatPath(path)
  const value = values.has(key) ? (values.get(key) as T) : find()
  values.set(key, value)
  return value
}
