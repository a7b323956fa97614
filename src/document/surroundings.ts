// What only the world around a document can tell: files beside it, variables. Problems are gathered with their places
// and reading goes on, so that all of them are told.

import { dirname, isAbsolute, join } from 'node:path'
import { reasonOf } from '../lib/errors.ts'
import { Secret } from '../lib/secret.ts'
import { formatPath, formatPlace, type Located, type Path, type Problem } from './located.ts'
import { quote, type SecretPlace } from './values.ts'

export interface DocumentContext {
  /** Path of the file, for messages and for relative paths. */
  readonly file: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
  readonly readSecret: (path: string) => string
}

export interface DocumentNotice {
  /** `names.yaml:14:7` */
  readonly at: string
  readonly message: string
}

export class Surroundings {
  readonly problems: Problem[] = []
  readonly notices: DocumentNotice[] = []
  readonly secretVariables = new Set<string>()
  readonly file: string
  readonly env: DocumentContext['env']
  readonly #document: Located
  readonly #context: DocumentContext

  constructor(document: Located, context: DocumentContext) {
    this.#document = document
    this.#context = context
    this.file = context.file
    this.env = context.env
  }

  problem(path: Path, message: string): void {
    const where = path.length === 0 ? '' : `${formatPath(path)}: `
    this.problems.push({ place: this.#document.place(path), message: `${where}${message}`, path })
  }

  /** Told once where several share an anchor. */
  notice(path: Path, message: string): void {
    const at = formatPlace(this.file, this.#document.place(path))
    if (!this.notices.some((notice) => notice.at === at && notice.message === message))
      this.notices.push({ at, message })
  }

  /** A path that may be relative to the directory of the file. */
  path(path: string): string {
    return isAbsolute(path) ? path : join(dirname(this.file), path)
  }

  secret(place: SecretPlace, path: Path): Secret | undefined {
    if (typeof place === 'string') return new Secret(place)
    const { env, file = '' } = place
    if (env !== undefined) this.secretVariables.add(env)
    const value = env === undefined ? this.#secretFile(file, path) : (this.#context.env[env] ?? '')
    if (value === '') {
      const what = env === undefined ? `the file ${quote(file)} is empty` : `the variable ${quote(env)} is not set`
      this.problem(path, `${what}; expected the secret in it`)
    }
    return value === undefined ? undefined : new Secret(value)
  }

  /** The text of a file beside the document; `what` it is not, where it cannot be read. */
  read(file: string, path: Path, what = 'not a readable file'): string | undefined {
    return this.#read(file, path, this.#context.readFile, what)
  }

  #secretFile(file: string, path: Path): string | undefined {
    const content = this.#read(file, path, this.#context.readSecret, 'not a readable file')
    return content?.replace(/\r?\n$/u, '')
  }

  #read(file: string, path: Path, read: (path: string) => string, what: string): string | undefined {
    try {
      return read(this.path(file))
    } catch (thrown) {
      this.problem(path, `${quote(file)} is ${what} (${reasonOf(thrown)}); expected one that can be read`)
      return undefined
    }
  }
}
