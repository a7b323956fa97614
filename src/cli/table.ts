// Rows of text under a heading, in columns; for output that people read.

/** The last column is as wide as it likes. Columns named in `right` hold numbers. */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly string[] = [],
): string {
  const lines = [heading, ...rows].map((row) => row.map(printable))
  const widths = heading.map((_, column) => lines.reduce((width, line) => Math.max(width, line[column].length), 0))
  const cell = (text: string, column: number) => {
    if (right.includes(heading[column])) return text.padStart(widths[column])
    return column === heading.length - 1 ? text : text.padEnd(widths[column])
  }
  return lines.map((line) => `${line.map(cell).join('  ').trimEnd()}\n`).join('')
}

/** What is stored by others must not steer the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/gu, '?')
}
