// `npm run bench:live`: from a put acknowledged by etcd to the new answer on the wire, for zones and SkyDNS records, idle
// and under load, beside CoreDNS; SkyDNS questions per CPU second; and starts with much to load.

import { mkdtemp, writeFile } from 'node:fs/promises'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { EtcdClient } from '../src/etcd/client.ts'
import { machine } from './document.ts'
import { type Change, measureDelays, Prober } from './live-delay.ts'
import * as servers from './live-servers.ts'
import { cpuSeconds, treeCpu, treeMemory } from './proc.ts'
import { Workplace } from './processes.ts'
import { formatTable, type Row } from './table.ts'

const ZONE = 'ten.test'
const CHANGING = 5000
const LOAD_QUERIES_PER_SECOND = 5000
const KEYS_IN_SERVICE = 1000
const BATCH = 100

const { values: given } = parseArgs({
  options: {
    changes: { type: 'string' },
    quick: { type: 'boolean', default: false },
    document: { type: 'string' },
  },
})
const { quick } = given
const changes = Number(given.changes ?? (quick ? 50 : 2000))
const rounds = quick ? 1 : 4
const started = performance.now()
const progress = (line: string) =>
  process.stderr.write(`[${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s] ${line}\n`)

/** The zone with one record that tells a number, and the serial raised with it, as an author would. */
function zoneText(number: number, records: number): string {
  const lines = [`$TTL 60`, `@ SOA ns1 hostmaster ${number + 1} 7200 1800 86400 30`, '@ NS ns1', 'ns1 A 10.0.0.1']
  for (let i = 0; i < records; i++)
    lines.push(
      i === CHANGING ? `h${i} A 10.77.${number >> 8}.${number & 255}` : `h${i} A 10.1.${(i >> 8) & 255}.${i & 255}`,
    )
  return `${lines.join('\n')}\n`
}

function skydnsKey(name: string): Uint8Array {
  return Buffer.from(`/skydns/test/skydns/${name}`)
}

function zoneChange(client: EtcdClient): Change {
  const key = Buffer.from(`${servers.ZONES_PREFIX}${ZONE}`)
  return { name: `h${CHANGING}.${ZONE}.`, put: (number) => client.put(key, Buffer.from(zoneText(number, 10_000))) }
}

function skydnsChange(client: EtcdClient): Change {
  return {
    name: `probe.${servers.SKYDNS_ZONE}.`,
    put: (number) =>
      client.put(skydnsKey('probe'), Buffer.from(`{"host":"10.77.${number >> 8}.${number & 255}","ttl":5}`)),
  }
}

interface Series {
  readonly what: string
  readonly server: string
  readonly load: string
  readonly delays: number[]
  resolutionMs: number
}

async function measureAll(place: Workplace, etcd: servers.Etcd, coredns: string | undefined): Promise<Series[]> {
  const ours = await servers.startHoldfast(place, etcd.endpoint)
  const zone = zoneChange(etcd.client)
  const skydns = skydnsChange(etcd.client)
  const contestants = [
    { what: 'zone of 10,000 records', change: zone, server: 'Holdfast', port: ours.port, count: changes },
    { what: 'SkyDNS record', change: skydns, server: 'Holdfast', port: ours.port, count: changes },
  ]
  if (coredns !== undefined) {
    const byEtcd = await servers.startCorednsEtcd(place, coredns, etcd.endpoint)
    const byAuto = await servers.startCorednsAuto(place, coredns, etcd.endpoint)
    contestants.push(
      { what: 'SkyDNS record', change: skydns, server: 'CoreDNS etcd', port: byEtcd.port, count: changes },
      {
        ...{ what: 'zone of 10,000 records', change: zone, server: 'CoreDNS auto 3 s, published' },
        ...{ port: byAuto.port, count: quick ? 3 : Math.min(changes, 40) },
      },
    )
  }
  let number = 1
  for (const { change, port } of contestants) {
    await change.put(number)
    const prober = await Prober.open(port, change.name)
    await servers.until(`${change.name} is answered`, async () => (await prober.ask()) === number, 30_000)
    prober.close()
    number++
  }
  const series = new Map<string, Series>()
  for (let round = 0; round < rounds; round++)
    for (const load of ['idle', 'loaded'])
      for (const { what, change, server, port, count } of contestants) {
        const part = Math.ceil(count / rounds)
        progress(`${server}, ${what}, ${load}: ${part} changes`)
        using _ = load === 'loaded' ? await underLoad(place, port, change.name) : undefined
        const { milliseconds, resolutionMs } = await measureDelays(port, change, number, part)
        number = (number + part) % 60_000
        const key = `${what} ${server} ${load}`
        const known = series.get(key) ?? { what, server, load, delays: [], resolutionMs }
        known.delays.push(...milliseconds)
        known.resolutionMs = resolutionMs
        series.set(key, known)
      }
  await ours.server.stop()
  return [...series.values()]
}

/** Steady questions for the changing name, until disposed of. */
async function underLoad(place: Workplace, port: number, name: string): Promise<Disposable> {
  const directory = await mkdtemp(join(place.directory, 'load-'))
  await writeFile(join(directory, 'questions'), `${name} A\n`)
  const args = ['-s', '127.0.0.1', '-p', String(port), '-d', join(directory, 'questions'), '-l', '600']
  args.push('-Q', String(LOAD_QUERIES_PER_SECOND), '-c', '4', '-T', '1')
  const running = place.start({ file: 'dnsperf', args }, '0-1023', join(directory, 'output'))
  await sleep(300)
  return { [Symbol.dispose]: () => void running.stop() }
}

interface Rate {
  readonly server: string
  readonly perCpuSecond: number[]
  readonly perCpuSecondWithEtcd: number[]
  readonly perSecond: number[]
}

async function measureRates(place: Workplace, etcd: servers.Etcd, coredns: string | undefined): Promise<Rate[]> {
  await putMany(etcd.client, KEYS_IN_SERVICE, (i) => [
    skydnsKey(`host${i}/a`),
    Buffer.from(`{"host":"10.2.${i >> 8}.${i & 255}"}`),
  ])
  const directory = await mkdtemp(join(place.directory, 'rate-'))
  const file = join(directory, 'questions')
  const questions = Array.from({ length: KEYS_IN_SERVICE }, (_, i) => `host${i}.${servers.SKYDNS_ZONE} A\n`)
  await writeFile(file, questions.join(''))
  const contestants = [{ server: 'Holdfast', served: await servers.startHoldfast(place, etcd.endpoint) }]
  if (coredns !== undefined)
    contestants.push({
      server: 'CoreDNS etcd',
      served: await servers.startCorednsEtcd(place, coredns, etcd.endpoint),
    })
  for (const { served } of contestants) await answered(served.port, `host0.${servers.SKYDNS_ZONE}.`)
  const rates = contestants.map(
    ({ server }): Rate => ({ server, perCpuSecond: [], perCpuSecondWithEtcd: [], perSecond: [] }),
  )
  for (let round = 0; round < rounds; round++)
    for (const [i, { server, served }] of contestants.entries()) {
      progress(`${server}: SkyDNS questions`)
      const before = cpuSeconds(treeCpu(served.server.pid))
      const etcdBefore = cpuSeconds(treeCpu(etcd.server.pid))
      const seconds = quick ? 1 : 4
      const args = [
        '-s',
        '127.0.0.1',
        '-p',
        String(served.port),
        '-d',
        file,
        '-l',
        String(seconds),
        '-c',
        '8',
        '-T',
        '1',
      ]
      const report = await place.run('0-1023', 'dnsperf', args)
      const completed = Number(/Queries completed: +(\d+)/u.exec(report)?.[1])
      if (!/NOERROR \d+ \(100\.00%\)/u.test(report)) throw new Error(`${server} gave wrong answers:\n${report}`)
      const used = cpuSeconds(treeCpu(served.server.pid)) - before
      const etcdUsed = cpuSeconds(treeCpu(etcd.server.pid)) - etcdBefore
      rates[i].perCpuSecond.push(completed / used)
      rates[i].perCpuSecondWithEtcd.push(completed / (used + etcdUsed))
      rates[i].perSecond.push(completed / seconds)
    }
  for (const { served } of contestants) await served.server.stop()
  return rates
}

async function answered(port: number, name: string): Promise<void> {
  const prober = await Prober.open(port, name)
  await servers.until(`${name} is answered`, async () => {
    await prober.ask()
    return prober.hasAddress
  })
  prober.close()
}

async function putMany(
  client: EtcdClient,
  count: number,
  entry: (i: number) => readonly [Uint8Array, Uint8Array],
): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => entry(from + i))
    await client.txn(
      [],
      entries.map(([key, value]) => ({ put: { key, value } })),
    )
  }
}

async function measureStarts(place: Workplace): Promise<Row[]> {
  const rows: Row[] = []
  const keys = quick ? 5000 : 100_000
  const zones = quick ? 500 : 10_000
  const loads = [
    {
      what: `${keys.toLocaleString('en')} SkyDNS keys`,
      count: keys,
      entry: (i: number) =>
        [
          skydnsKey(`r${i % 100}/h${i}/a`),
          Buffer.from(`{"host":"10.${i >> 16}.${(i >> 8) & 255}.${i & 255}"}`),
        ] as const,
      last: `h${keys - 1}.r${(keys - 1) % 100}.${servers.SKYDNS_ZONE}.`,
    },
    {
      what: `${zones.toLocaleString('en')} zones`,
      count: zones,
      entry: (i: number) =>
        [Buffer.from(`${servers.ZONES_PREFIX}z${i}.test`), Buffer.from(zoneText(i, 20) + 'www A 10.3.0.1\n')] as const,
      last: `www.z${zones - 1}.test.`,
    },
  ]
  for (const { what, count, entry, last } of loads) {
    const etcd = await servers.startEtcd(place)
    await putMany(etcd.client, count, entry)
    const state = await mkdtemp(join(place.directory, 'state-'))
    for (const from of ['etcd', 'its state on disk, etcd down']) {
      if (from !== 'etcd') await etcd.server.stop()
      progress(`start with ${what} from ${from}`)
      const begun = performance.now()
      const { server, port } = await servers.startHoldfast(place, etcd.endpoint, state)
      await answered(port, last)
      const wall = (performance.now() - begun) / 1000
      await sleep(3000)
      const { pssBytes } = treeMemory(server.pid)
      const cpu = cpuSeconds(treeCpu(server.pid))
      rows.push([what, from, wall.toFixed(2), cpu.toFixed(2), (pssBytes / 2 ** 20).toFixed(0)])
      await server.stop()
    }
    etcd.client.close()
  }
  return rows
}

function quantile(values: readonly number[], q: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))]
}

const median = (values: readonly number[]) => quantile(values, 0.5)

async function bench(): Promise<string> {
  using place = new Workplace()
  const coredns = await servers.findCoredns()
  const etcd = await servers.startEtcd(place)
  const series = await measureAll(place, etcd, coredns)
  const rates = await measureRates(place, etcd, coredns)
  etcd.client.close()
  await etcd.server.stop()
  const starts = await measureStarts(place)
  const delayRows = series.map(({ what, server, load, delays, resolutionMs }) => [
    ...[what, server, load, String(delays.length)],
    ...[0.5, 0.9, 0.99].map((q) => quantile(delays, q).toFixed(2)),
    ...[Math.max(...delays).toFixed(2), resolutionMs.toFixed(2)],
  ])
  const ours = median(rates[0].perCpuSecond)
  const rateRows = rates.map(({ server, perCpuSecond, perCpuSecondWithEtcd, perSecond }) => [
    ...[server, median(perCpuSecond).toFixed(0), `${(ours / median(perCpuSecond)).toFixed(1)}×`],
    ...[median(perCpuSecondWithEtcd).toFixed(0), median(perSecond).toFixed(0)],
  ])
  const commandLine = `npm run bench:live${process.argv.length > 2 ? ` -- ${process.argv.slice(2).join(' ')}` : ''}`
  return `# Benchmarks of live names

Written by \`${commandLine}\` on ${new Date().toISOString().slice(0, 10)}; run it again to get this page for your machine.
Machine: ${machine()}. One etcd member (Debian's) without TLS, everything on the same machine; rounds are interleaved.

## From put acknowledged to the new answer, in milliseconds

Each change puts a number into etcd and asks for it until it is answered, one question after the other with a millisecond in between, so the
figures are up to that much too high; the last column is the median time of such a question. In the zone of 10,000 records one record and the serial change, and the whole text is put. Loaded: dnsperf asks
${LOAD_QUERIES_PER_SECOND.toLocaleString('en')} questions a second besides. A negative delay means that the answer was there before etcd's acknowledgement.

${formatTable(['what changes', 'server', 'load', 'changes', 'p50', 'p90', 'p99', 'max', 'one question'], delayRows)}
## SkyDNS questions per CPU second

${KEYS_IN_SERVICE.toLocaleString('en')} names, UDP, as many questions as dnsperf gets answered; medians of ${rounds} rounds. CoreDNS asks etcd at each question, so its CPU is
shown as well.

${formatTable(['server', 'per CPU second', 'ours to it', 'etcd counted too', 'per second'], rateRows)}
## Starts

Until the last name is answered; memory three seconds later.

${formatTable(['what', 'from', 'wall s', 'CPU s', 'memory MB'], starts)}`
}

const page = await bench()
process.stdout.write(page)
const document = given.document ?? (quick ? undefined : join(import.meta.dirname, '../docs/benchmarks-live.md'))
if (document !== undefined) writeFileSync(document, page)
