// `plan` for a stack file of a thousand machines that do not exist yet: how long the command takes, and what with.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../processes.ts'

export interface PlanResult {
  readonly machines: string
  readonly wallSeconds: readonly number[]
  /** Milliseconds of one run under V8's sampling profiler. */
  readonly shares: readonly { readonly what: string; readonly ms: number }[]
}

const LAUNCHER = join(import.meta.dirname, '../../bin/holdfast')
const COUNTS = { etcd: 9, dns: 491, postgres: 500 }
const FILE = `name: thousand
target: local
domain: thousand.test
etcd: { members: ${COUNTS.etcd} }
dns: { servers: ${COUNTS.dns} }
postgres: { members: ${COUNTS.postgres} }
`
const HAS_CHANGES = 4

/** Functions that stand for a share, with what they call. */
const SHARES: Readonly<Record<string, { readonly name: string; readonly file: string }>> = {
  'loading the program': { name: 'load', file: 'cli/run.ts' },
  'reading the stack file': { name: 'loadStack', file: 'stack/load-stack.ts' },
  'rendering the machines': { name: '#render', file: 'stack/operator.ts' },
  'comparing them': { name: '#compare', file: 'stack/operator.ts' },
  'writing the plan': { name: 'formatPlan', file: 'cli/plan-text.ts' },
}

/** The part we read of what `--cpu-prof` writes: microseconds between samples, and the node each sample hit. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

export async function planRounds(rounds: number, progress: (line: string) => void): Promise<PlanResult> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  try {
    writeFileSync(join(directory, 'stack.yaml'), FILE)
    const wallSeconds: number[] = []
    for (let round = 1; round <= rounds; round++) {
      wallSeconds.push(await planOnce(directory, {}))
      progress(`plan ${round}/${rounds}: ${wallSeconds.at(-1)?.toFixed(2)} s`)
    }
    const machines = `${COUNTS.etcd} etcd members, ${COUNTS.dns} name servers, ${COUNTS.postgres} PostgreSQL servers`
    return { machines, wallSeconds, shares: await profile(directory) }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function planOnce(directory: string, env: Readonly<Record<string, string>>): Promise<number> {
  const start = performance.now()
  const code = await run(LAUNCHER, ['plan', '--state', join(directory, 'state')], {
    cwd: directory,
    env: { ...process.env, ...env },
  }).then(
    () => 0,
    (error: unknown) => (error as { readonly code?: number }).code,
  )
  if (code !== HAS_CHANGES) throw new Error(`plan ended with ${code}`)
  return (performance.now() - start) / 1000
}

async function profile(directory: string): Promise<PlanResult['shares']> {
  const profiles = join(directory, 'profiles')
  mkdirSync(profiles)
  await planOnce(directory, { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}` })
  const [file] = readdirSync(profiles)
  const found = JSON.parse(readFileSync(join(profiles, file), 'utf8')) as CpuProfile
  return Object.entries(SHARES).map(([what, { name, file: path }]) => ({ what, ms: inclusiveMs(found, name, path) }))
}

/** Of a function and what it calls. */
function inclusiveMs({ nodes, samples, timeDeltas }: CpuProfile, name: string, file: string): number {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const within = new Set<number>()
  const add = (id: number) => {
    within.add(id)
    for (const child of byId.get(id)?.children ?? []) add(child)
  }
  for (const { id, callFrame } of nodes)
    if (callFrame.functionName === name && callFrame.url.replace(/\.js$/u, '.ts').endsWith(file)) add(id)
  return samples.reduce((sum, id, at) => sum + (within.has(id) ? timeDeltas[at] : 0), 0) / 1000
}
