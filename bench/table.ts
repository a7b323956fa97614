// Tables of text, aligned for a terminal; with the rule below the header they are Markdown as well.

export type Row = readonly string[]

/** Nothing at all when there are no rows. */
export function formatTable(header: Row, rows: readonly Row[]): string {
  if (rows.length === 0) return ''
  const widths = header.map((_, column) => Math.max(3, ...[header, ...rows].map((row) => row[column].length)))
  const line = (row: Row) =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return `${[line(header), rule, ...rows.map(line)].join('\n')}\n`
}
