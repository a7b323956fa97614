// The world around a stack file: what names.yaml needs of it, and certificates. A setting that a thousand machines share is
// looked up once.

import { formatPath, type Path } from '../../document/located.ts'
import { Surroundings } from '../../document/surroundings.ts'
import type { PemPlace, SecretPlace } from '../../document/values.ts'
import type { Secret } from '../../lib/secret.ts'

export class StackResolver extends Surroundings {
  readonly #secrets = new Map<string, Secret | undefined>()
  readonly #texts = new Map<string, string>()
  #hasNoEffect = false

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
    if (this.#hasNoEffect) return
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
