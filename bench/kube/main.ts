// `npm run bench:kube`: how soon a change of a Kubernetes object is answered, and what following many of them costs, beside
// ExternalDNS and KubeSecondaryDNS on the same cluster. Progress goes to standard error, tables to standard output;
// docs/benchmarks.md gets them as a section.

import { readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { KubeCluster } from '../../test/support/kube-cluster.ts'
import { findKubeSecondaryDns } from '../../test/support/kube-secondary-dns.ts'
import { findExternalDns } from '../../test/support/kubernetes-programs.ts'
import { machine } from '../document.ts'
import { Etcd } from '../live/etcd.ts'
import { coredns } from '../peers/coredns.ts'
import { holdfast } from '../peers/holdfast.ts'
import { Workplace } from '../processes.ts'
import { seededRandom, shuffle } from '../random.ts'
import { withSection } from '../section.ts'
import { measure, type Result } from './measure.ts'
import { createNamespaces, type Kind, Numbers, Population } from './objects.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { formatRun, formatSection, type Run, sectionOf } from './report.ts'
import { ALL_CORES, type Programs, type Subject, SUBJECTS, type World } from './subjects.ts'

const HOST = '127.120.0.1'
/** The API server keeps all objects in memory. */
const API_SERVER_MEMORY = '6GiB'

async function bench(options: Options, commandLine: string): Promise<void> {
  const load = loadavg()
  using place = new Workplace()
  const begun = performance.now()
  const progress = (line: string) =>
    process.stderr.write(`[${((performance.now() - begun) / 1000).toFixed(0).padStart(4)} s] ${line}\n`)
  const programs = await findPrograms()
  const subjects = chooseSubjects(options, programs)
  const cluster = await KubeCluster.start({ host: HOST, memory: API_SERVER_MEMORY })
  try {
    const records = await Etcd.start(place, ALL_CORES)
    const world = { place, cluster, records, programs }
    const versions = await findVersions(world)
    progress(versions)
    const results = await measureAll(world, subjects, options, progress)
    records.close()
    const run: Run = { options, load, versions, results }
    process.stdout.write(formatRun(run))
    if (options.json !== undefined) writeFileSync(options.json, JSON.stringify({ machine: machine(), ...run }, null, 2))
    if (options.document === undefined) return
    const page = readFileSync(options.document, 'utf8')
    writeFileSync(options.document, withSection(page, sectionOf(options), formatSection(run, commandLine)))
  } finally {
    await cluster.stop()
  }
}

async function measureAll(
  world: World,
  subjects: readonly Subject[],
  options: Options,
  progress: (line: string) => void,
): Promise<Result[]> {
  const { cluster } = world
  await cluster.applyCrds('kubevirt')
  await createNamespaces(cluster)
  const numbers = new Numbers()
  const populations = new Map<Kind, Population>()
  for (const kind of new Set(subjects.map((subject) => subject.kind))) {
    const population = new Population(kind, cluster, numbers, options.objects)
    await population.create()
    populations.set(kind, population)
    progress(`${options.objects} objects made: ${kind}`)
  }
  const results = subjects.map(
    (subject): Result => ({
      ...{
        subject,
        firstStarts: [],
        laterStarts: [],
        idleSecondsPerMinute: [],
        delaysMs: [],
        loads: [],
        unfinished: [],
      },
    }),
  )
  const random = seededRandom(Date.now())
  for (let round = 1; round <= options.rounds; round++) {
    progress(`round ${round} of ${options.rounds}`)
    for (const subject of shuffle(subjects, random)) {
      const result = results[subjects.indexOf(subject)]
      const objects = populations.get(subject.kind)
      if (objects !== undefined) await measure(world, subject, objects, options, result, progress)
      await emptied(world)
    }
  }
  return results
}

/** Nobody finds records of the round before. */
async function emptied({ records }: World): Promise<void> {
  await records.client.delete(Buffer.from('/'), { rangeEnd: Buffer.from('0') })
}

async function findPrograms(): Promise<Programs> {
  return {
    holdfast: (await holdfast.locate()) ?? '',
    coredns: await coredns.locate(),
    externalDns: findExternalDns(),
    kubeSecondaryDns: findKubeSecondaryDns(),
  }
}

function chooseSubjects(options: Options, programs: Programs): Subject[] {
  return SUBJECTS.filter(({ id, title, needs }) => {
    if (!options.subjects.includes(id)) return false
    const missing = needs.find((program) => programs[program] === undefined)
    if (missing !== undefined) process.stderr.write(`${title} is left out: ${missing} is not there\n`)
    return missing === undefined
  })
}

async function findVersions({ cluster, records, programs }: World): Promise<string> {
  const { gitVersion } = await cluster.request<{ gitVersion: string }>('GET', '/version')
  return [
    `Holdfast ${await holdfast.version(programs.holdfast)}`,
    `Kubernetes ${gitVersion}`,
    ...(programs.externalDns === undefined ? [] : ['ExternalDNS v0.23.0']),
    ...(programs.coredns === undefined ? [] : [`CoreDNS ${await coredns.version(programs.coredns)}`]),
    `etcd ${records.version}`,
  ].join(', ')
}

try {
  const args = process.argv.slice(2)
  const commandLine = ['npm run bench:kube', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
  await bench(parseOptions(args), commandLine)
} catch (error) {
  const usage = error instanceof RangeError || (error instanceof TypeError && 'code' in error)
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage ? `${USAGE}\n` : ''}`)
  process.exitCode = usage ? 2 : 1
}
