// docs/benchmarks.md has two authors: `npm run bench:dns` writes the page, `npm run bench:live` one section of it, and
// each leaves alone what the other wrote.

export const HEADING = '## Names from etcd'

/** The page with the section in place of the one it had, or at its end. */
export function withSection(page: string, section: string): string {
  const [before, after] = around(page)
  return `${[before, section, after]
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n')}\n`
}

/** The section of a page; empty when it has none. */
export function sectionOf(page: string): string {
  const [before, after] = around(page)
  return page.slice(before.length, page.length - after.length)
}

function around(page: string): [before: string, after: string] {
  const start = page.indexOf(`${HEADING}\n`)
  if (start < 0) return [page, '']
  const next = page.indexOf('\n## ', start)
  return [page.slice(0, start), next < 0 ? '' : page.slice(next)]
}
