// The tables of a run, and the section of docs/benchmarks.md they make.

import { machine } from '../document.ts'
import { HEADINGS } from '../section.ts'
import { spread } from '../statistics.ts'
import { formatTable } from '../table.ts'
import { type Rendering, STEPS } from './rendering.ts'
import type { UpResult } from './up.ts'

const WANTED_RENDERING_MS = 1000

export interface Run {
  /** Load averages when it began. */
  readonly load: readonly number[]
  readonly renderings: readonly Rendering[]
  readonly ups: readonly UpResult[]
}

export function formatRun({ renderings, ups }: Run): string {
  const parts = [
    ['1,000 machines on paper', formatRenderings(renderings)],
    ...ups.map((up) => [`From nothing to healthy: ${up.kind}`, formatUp(up)]),
  ]
  return parts
    .filter(([, table]) => table !== '')
    .map(([title, table]) => `### ${title}\n\n${table}`)
    .join('\n')
}

/** Without the file, which is read for every target. */
const RENDERED = ['machines', 'place', 'cloudInit', 'domains'] as const

function formatRenderings(renderings: readonly Rendering[]): string {
  if (renderings.length === 0) return ''
  const of = (value: (rendering: Rendering) => number) => spread(renderings.map(value))
  const row = (what: string, value: (rendering: Rendering) => number) => {
    const { median, min, max } = of(value)
    return [what, median.toFixed(0), `${min.toFixed(0)}–${max.toFixed(0)}`]
  }
  const all = (rendering: Rendering) => RENDERED.reduce((sum, step) => sum + rendering[step], 0)
  const steps = Object.entries(STEPS).map(([step, what]) => row(what, (each) => each[step as keyof typeof STEPS]))
  const met = of(all).median < WANTED_RENDERING_MS ? 'yes' : 'no'
  const table = formatTable(['step', 'median ms', 'range'], [...steps, row('all but the file', all)])
  return `${table}\nWanted: all but the file under ${WANTED_RENDERING_MS} ms: ${met}. ${renderings[0].megabytes.toFixed(0)} MB of text.\n`
}

/** When each machine came to what; what it was at for a moment only is left out. */
function formatUp({ came, seconds }: UpResult): string {
  const machines = [...new Set(came.map(({ machine: name }) => name))]
  const rows = machines.map((name) => {
    const own = came.filter((each) => each.machine === name)
    return [name, own.map(({ phase, seconds: at }) => `${at.toFixed(0)} s ${phase}`).join(', ')]
  })
  return `${formatTable(['machine', 'came to'], rows)}\nThe whole command: ${seconds.toFixed(0)} s.\n`
}

export function formatSection(run: Run, commandLine: string): string {
  return `${HEADINGS.vm}

Written by \`${commandLine}\` on ${new Date().toISOString().slice(0, 10)}; run it again to get this section for your machine.

${formatRun(run).trim()}

### How it was made

- Machine: ${machine()}; load averages before the run: ${run.load.map((load) => load.toFixed(1)).join(', ')}.
- On paper: 9 etcd members, 491 name servers and 500 PostgreSQL servers, from the stack file to user-data and domain of each, in one process, without a hypervisor.
- From nothing: 3 etcd members, a name server and 2 PostgreSQL servers with an image that has everything, by \`holdfast up\` on a libvirt of its own. Machines are
  emulated (TCG): there is no KVM that works on this host, and two cores for six machines. Containers are libvirt-LXC with the same machines and the same cloud-init.
`
}
