// What is wrong with a template, and where. Whoever knows the template's text and the object makes a HoldfastError of it.

export class TemplateError extends Error {
  /** Offset in the template; undefined where whoever throws does not know it. */
  readonly at: number | undefined

  constructor(message: string, at?: number) {
    super(message)
    this.at = at
  }
}

/** `column 7`, or `line 2, column 7` of a text with several lines. */
export function placeOf(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n')
  const column = `column ${(lines.at(-1) ?? '').length + 1}`
  return text.includes('\n') ? `line ${lines.length}, ${column}` : column
}
