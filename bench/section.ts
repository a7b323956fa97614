// docs/benchmarks.md has several authors: `npm run bench:dns` writes the page, the others one section of it each, and
// everybody leaves alone what another wrote.

export const HEADINGS = {
  live: '## Names from etcd',
  stack: '## Stacks',
  kube: '## Names from Kubernetes',
  kubeSmall: '## Names from Kubernetes, a small cluster',
  vm: '## Virtual machines',
} as const

type Section = keyof typeof HEADINGS

/** The page with the section in place of the one it had, or at its end. */
export function withSection(page: string, which: Section, section: string): string {
  const [before, after] = around(page, which)
  return `${[before, section, after]
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n')}\n`
}

/** A new page with the sections that the old one had. */
export function withSectionsOf(old: string, page: string): string {
  const sections = Object.keys(HEADINGS) as Section[]
  return sections.reduce((made, which) => withSection(made, which, sectionOf(old, which)), page)
}

function sectionOf(page: string, which: Section): string {
  const [before, after] = around(page, which)
  return page.slice(before.length, page.length - after.length)
}

function around(page: string, which: Section): [before: string, after: string] {
  const start = page.indexOf(`${HEADINGS[which]}\n`)
  if (start < 0) return [page, '']
  const next = page.indexOf('\n## ', start)
  return [page.slice(0, start), next < 0 ? '' : page.slice(next)]
}
