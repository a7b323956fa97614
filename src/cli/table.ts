// Rows of text under a heading, in columns; for output that people read.

import type { Paint, Style } from './colour.ts'
import { wrap } from './wrap.ts'

/** A text, or a text in a style. */
export type Cell = string | { readonly text: string; readonly style: Style }

interface TableOptions {
  /** Columns of numbers. */
  readonly right?: readonly string[]
  readonly paint?: Paint
  /** Lines are cut to it. */
  readonly width?: number | undefined
}

/** Narrower than this, the last column is not wrapped any further. */
const NARROWEST = 24

/** Columns named in `right` hold numbers. Within a width, the last column is wrapped; without one it is as wide as it likes. */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly string[] = [],
  width?: number,
): string {
  return tableLines(heading, width === undefined ? rows : wrapLast(heading, rows, width), { right })
    .map((line) => `${line}\n`)
    .join('')
}

function wrapLast(heading: readonly string[], rows: readonly (readonly string[])[], width: number): string[][] {
  const others = heading.slice(0, -1)
  const taken = others.reduce(
    (sum, title, column) =>
      sum + GAP.length + rows.reduce((most, row) => Math.max(most, row[column].length), title.length),
    0,
  )
  return rows.flatMap((row) => {
    const [first, ...more] = wrap(row.at(-1) ?? '', Math.max(NARROWEST, width - taken))
    return [[...row.slice(0, -1), first], ...more.map((line) => [...others.map(() => ''), line])]
  })
}

/** The same as lines, with styles and within a width. */
export function tableLines(
  heading: readonly string[],
  rows: readonly (readonly Cell[])[],
  { right = [], paint = (_, text) => text, width = Infinity }: TableOptions = {},
): string[] {
  const lines = [heading, ...rows].map((row) => row.map(readCell))
  const widths = heading.map((_, column) => lines.reduce((most, line) => Math.max(most, line[column].text.length), 0))
  const starts = widths.map((_, column) => widths.slice(0, column).reduce((sum, each) => sum + each + GAP.length, 0))
  const pad = (text: string, column: number) =>
    right.includes(heading[column]) ? text.padStart(widths[column]) : text.padEnd(widths[column])
  return lines.map((line) => {
    const whole = line.map(({ text }, column) => pad(text, column)).join(GAP)
    const shown = truncate(whole.trimEnd(), width)
    if (line.every(({ style }) => style === undefined)) return shown
    return line
      .map(({ style }, column) => {
        const piece = shown.slice(starts[column], starts[column + 1])
        return style === undefined ? piece : paint(style, piece)
      })
      .join('')
  })
}

const GAP = '  '

function readCell(cell: Cell): { readonly text: string; readonly style: Style | undefined } {
  return typeof cell === 'string'
    ? { text: printable(cell), style: undefined }
    : { text: printable(cell.text), style: cell.style }
}

/** What is stored by others must not steer the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/gu, '?')
}

/** What is too long ends with `…`. */
export function truncate(text: string, width: number): string {
  if (text.length <= width) return text
  return width < 1 ? '' : `${text.slice(0, width - 1)}…`
}
