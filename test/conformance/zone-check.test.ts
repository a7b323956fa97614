// `holdfast zone check` against named-checkzone over a corpus of good and broken zones: both accept or both refuse, and
// what they accept holds the same records. The records are compared as BIND writes them: it reads the file itself, then
// what ours printed of it, so that no parser of ours stands on both sides.
// BIND runs with -i none and -k ignore: what its integrity and host name checks find (an MX without address, an
// underscore) is a warning here, since refusing the zone would hurt more than the record.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INCLUDED, ZONE_CORPUS } from '../support/zone-corpus.ts'

const HOLDFAST = fileURLToPath(new URL('../../bin/holdfast', import.meta.url))
const ALL_ZONES_MS = 180_000

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface Report {
  readonly ok: boolean
  readonly errors: readonly { readonly message: string }[]
}

let directory: string
let reports: Report[]
/** The lines of each zone, by its name. */
let printed: Map<string, string[]>

function run(program: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: directory, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr })
    })
  })
}

function originOf(index: number): string {
  return `zone${index}.test`
}

function fileOf(index: number): string {
  return join(directory, `${originOf(index)}.zone`)
}

function checkWithBind(index: number, file = fileOf(index)): Promise<Outcome> {
  return run('named-checkzone', [
    '-q',
    '-i',
    'none',
    '-k',
    'ignore',
    '-s',
    'full',
    '-D',
    '-o',
    '-',
    originOf(index),
    file,
  ])
}

function recordSet(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith(';'))
  return [...new Set(lines.map((line) => line.replace(/\s+/g, ' ').toLowerCase()))].sort()
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-zone-check-'))
  await writeFile(join(directory, 'included.inc'), INCLUDED)
  const files = ZONE_CORPUS.map((_, index) => fileOf(index))
  await Promise.all(ZONE_CORPUS.map((zone, index) => writeFile(files[index], zone.text)))
  const [json, text] = await Promise.all([
    run(HOLDFAST, ['zone', 'check', '--json', ...files]),
    run(HOLDFAST, ['zone', 'check', '--print', ...files]),
  ])
  expect(json.code, json.stderr).toBe(3)
  reports = json.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  printed = Map.groupBy(text.stdout.trim().split('\n'), (line) => /(zone\d+\.test)\.\s/i.exec(line)?.[1] ?? '')
}, ALL_ZONES_MS)

afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

describe('zone check and named-checkzone', () => {
  it.each(ZONE_CORPUS.map((zone, index) => ({ ...zone, index })))('agree on $title', async ({ index, good, ours }) => {
    const bind = await checkWithBind(index)
    expect(bind.code === 0, bind.stderr).toBe(good)
    const report = reports[index]
    expect(report.ok, JSON.stringify(report)).toBe(ours?.good ?? good)
    if (!good || !report.ok || ours !== undefined) return
    const canonical = join(directory, `${originOf(index)}.printed`)
    const records = printed.get(originOf(index)) ?? []
    await writeFile(canonical, `${records.join('\n')}\n`)
    const again = await checkWithBind(index, canonical)
    expect(again.code, again.stderr).toBe(0)
    expect(recordSet(again.stdout)).toEqual(recordSet(bind.stdout))
    // BIND merges duplicates when it reads them back, so they show only here.
    expect(records).toHaveLength(recordSet(bind.stdout).length)
  })
})
