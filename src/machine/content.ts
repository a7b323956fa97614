// The content of a file, with its secrets marked: it can be written (reveal), and shown or compared in public (show)
// without anybody having to remember which parts must not be seen.

import { randomUUID } from 'node:crypto'
import { Secret } from '../lib/secret.ts'

/** Pieces in order; secrets stay secrets until the moment a file is written. */
export type Content = readonly (string | Secret)[]

/** As a template: content`password = ${secret}\n`. Contents may be put into contents. */
export function content(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | Secret | Content)[]
): Content {
  return texts.flatMap((text, index) => {
    const value = values[index]
    if (value === undefined) return [text]
    return [
      text,
      ...(Array.isArray(value)
        ? (value as Content)
        : [typeof value === 'number' ? String(value) : (value as string | Secret)]),
    ]
  })
}

export function plain(text: string): Content {
  return [text]
}

/** Values with secrets in them as JSON, which is YAML, too. */
export function jsonContent(value: unknown): Content {
  const secrets: Secret[] = []
  // No text can look like it by accident.
  const mark = randomUUID()
  const text = JSON.stringify(
    value,
    function (this: Record<string, unknown>, key, written: unknown) {
      // A Secret has become *** by its own toJSON before it comes here; the owner still has it.
      const original = this[key]
      if (!(original instanceof Secret)) return written
      secrets.push(original)
      return mark
    },
    2,
  )
  const pieces = text.split(`"${mark}"`)
  const hidden = secrets.map((secret) => new Secret(JSON.stringify(secret.reveal())))
  return [...pieces.flatMap((piece, index) => (index === 0 ? [piece] : [hidden[index - 1], piece])), '\n']
}

/** What goes into the file. */
export function reveal(content: Content): string {
  return content.map((part) => (part instanceof Secret ? part.reveal() : part)).join('')
}

/** What may be seen: secrets as ***. */
export function show(content: Content): string {
  return content.map(String).join('')
}

export function hasSecrets(content: Content): boolean {
  return content.some((part) => part instanceof Secret)
}
