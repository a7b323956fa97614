// Speed counts only for right answers: before the rounds a sample of every mix is asked by dig and compared with the
// zone's content; in every measurement the rcodes, and the questions that were never answered, are counted.

import { writeFile } from 'node:fs/promises'
import type { Sample, Transport } from './load.ts'
import type { QueryFile } from './mixes.ts'
import { run } from './processes.ts'

const RCODE_TOLERANCE = 0.001
/** A file of queries is asked from its beginning and broken off anywhere, so shares in a mixture wander a little. */
const MIXTURE_TOLERANCE = 0.01
const LOST_LIMIT = 0.001
const SHOWN = 3

/** What is wrong with the answers of the server on this port, one line each. */
export async function wrongAnswers(port: number, transport: Transport, queries: QueryFile): Promise<string[]> {
  const batch = `${queries.path}.sample`
  await writeFile(batch, queries.sample.map(({ name, type }) => `${name} ${type}\n`).join(''))
  const show = ['+noall', '+answer', '+authority', '+additional', '+norecurse', transport === 'tcp' ? '+tcp' : '+notcp']
  const { stdout } = await run('dig', ['@127.0.0.1', '-p', String(port), ...show, '-f', batch])
  const records = stdout.split('\n').map((line) => {
    const [owner, , , type, ...rdata] = line.split(/\s+/)
    return `${owner} ${type} ${rdata.join(' ')}`
  })
  const missing = queries.sample.flatMap(({ name, type, wanted }) =>
    wanted
      .filter((record) => !records.some((each) => each.startsWith(record)))
      .map((record) => `${name} ${type} by ${transport}: the answer has no "${record}"`),
  )
  const more = missing.length > SHOWN ? [`… and ${missing.length - SHOWN} more`] : []
  return [...missing.slice(0, SHOWN), ...more]
}

export function wrongCounts(sample: Sample, queries: QueryFile, seconds: number): string[] {
  const wrong: string[] = []
  const mixture = queries.nxdomainShare > 0 && queries.nxdomainShare < 1
  const tolerance = mixture ? MIXTURE_TOLERANCE : RCODE_TOLERANCE
  const wanted = { NOERROR: 1 - queries.nxdomainShare, NXDOMAIN: queries.nxdomainShare }
  for (const [rcode, share] of Object.entries(wanted)) {
    const got = sample.rcodes[rcode] ?? 0
    if (Math.abs(got - share) > tolerance) wrong.push(`${percent(got)} ${rcode}; ${percent(share)} wanted`)
  }
  const lostShare = sample.lost / (sample.queriesPerSecond * seconds)
  if (lostShare > LOST_LIMIT) wrong.push(`${sample.lost} questions lost (${percent(lostShare)})`)
  return wrong
}

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`
