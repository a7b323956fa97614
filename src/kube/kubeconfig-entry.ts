// One entry of a kubeconfig: a cluster, a user or a context, with the file that it stands in. Its fields are asked for by
// what they have to be.

import { readFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { HoldfastError, reasonOf } from '../lib/errors.ts'

interface EntryOptions {
  readonly file: string
  readonly directory: string
  readonly kind: string
  readonly name: string
  readonly value: unknown
}

export class Entry {
  readonly file: string
  readonly #directory: string
  readonly #title: string
  readonly #fields: Readonly<Record<string, unknown>>

  constructor({ file, directory, kind, name, value }: EntryOptions) {
    this.file = file
    this.#directory = directory
    this.#title = `${kind} "${name}"`
    if (value !== null && typeof value !== 'object') throw this.invalid('it is no map')
    this.#fields = { ...value }
  }

  invalid(reason: string, cause?: unknown): HoldfastError {
    return invalid(this.file, `${this.#title}: ${reason}`, cause)
  }

  text(field: string): string | undefined {
    const value = this.#fields[field]
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value !== 'string') throw this.invalid(`its ${field} is no text`)
    return value
  }

  requiredText(field: string): string {
    const value = this.text(field)
    if (value === undefined) throw this.invalid(`it has no ${field}; expected one`)
    return value
  }

  flag(field: string): boolean {
    return this.#fields[field] === true
  }

  map(field: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.#fields[field]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'object' || Array.isArray(value)) throw this.invalid(`its ${field} is no map`)
    return { ...value }
  }

  path(field: string): string | undefined {
    const value = this.text(field)
    return value === undefined ? undefined : this.absolute(value)
  }

  absolute(path: string): string {
    return isAbsolute(path) ? path : join(this.#directory, path)
  }

  /** From `<field>-data`, in base64, which counts first, or from the file that `<field>` names. */
  async pem(field: string): Promise<Buffer | undefined> {
    const data = this.text(`${field}-data`)
    if (data !== undefined) return Buffer.from(data, 'base64')
    const path = this.path(field)
    if (path === undefined) return undefined
    try {
      return await readFile(path)
    } catch (error) {
      throw this.invalid(`its ${field} "${path}" cannot be read (${reasonOf(error)}); expected a PEM file`, error)
    }
  }
}

export function invalid(file: string, reason: string, cause?: unknown): HoldfastError {
  return new HoldfastError('KubeconfigInvalid', `Cannot use kubeconfig "${file}": ${reason}`, { cause })
}
