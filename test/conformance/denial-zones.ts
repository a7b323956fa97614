// Signed zones that are hard to deny names of: NSEC, NSEC3, and NSEC3 with opt-out, where empty non-terminals above
// unsigned delegations have no NSEC3; several NSEC3PARAM of which only one can be used; a top-level domain.

import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Random } from '../fuzz/random.ts'
import type { ZoneFile } from '../support/name-server.ts'
import type { SignedZone } from '../support/validators.ts'
import { sign } from './zones.ts'

const run = promisify(execFile)

export interface DenialZone extends ZoneFile, SignedZone {
  /** Names to ask for, most of which do not exist. */
  readonly names: readonly string[]
}

const DS = 'DS 4711 13 2 49FD46E6C4B45C55D4AC69CBD3CD34AC1AFE51DE8C5F5A4E4F3A0D7B3A7A3F33'
const HEAD = [
  '$TTL 300',
  '@ SOA ns hostmaster 1 3600 900 604800 60',
  '@ NS ns',
  'ns A 192.0.2.1',
  'ns AAAA 2001:db8::1',
]
/** No wildcard at the apex: below an empty non-terminal without NSEC3, nothing could be denied next to it. */
const SMALL = [
  ...HEAD,
  'www A 192.0.2.2',
  'www MX 10 ns',
  'alias CNAME www',
  'gone CNAME nowhere',
  'moved DNAME wild',
  'a.ent NS ns.elsewhere.invalid.',
  'b.ent NS ns.elsewhere.invalid.',
  'a.b.c.deep NS ns.elsewhere.invalid.',
  'host.both A 192.0.2.3',
  'cut.both NS ns.elsewhere.invalid.',
  'far.cut2.both NS ns.elsewhere.invalid.',
  'plain NS ns.elsewhere.invalid.',
  'signed NS ns.elsewhere.invalid.',
  `signed ${DS}`,
  's.ent2 NS ns.elsewhere.invalid.',
  `s.ent2 ${DS}`,
  '*.wild A 192.0.2.4',
  'host.wild TXT "not the wildcard"',
  '*.walias CNAME www',
  'sub.*.entwild NS ns.elsewhere.invalid.',
  'moved2 DNAME entwild',
  'host.entwild2 A 192.0.2.5',
  'sub.*.entwild2 NS ns.elsewhere.invalid.',
]

const OPT_OUT = ['-3', '-', '-H', '0', '-A']
/** NSEC3PARAM records put in front of the one that the signer wrote. */
const UNUSABLE: Readonly<Record<string, string>> = {
  'no-chain.test.': '1 0 7 1234',
  'unknown-hash.test.': '6 0 5 AABBCC',
  'flagged.test.': '1 1 5 AABBCC',
}

/** `delegations`: how many the top-level domain has. */
export async function writeDenialZones(directory: string, delegations: number, random: Random): Promise<DenialZone[]> {
  const small = SMALL.join('\n')
  const plans: readonly (readonly [string, readonly string[]])[] = [
    ['nsec.test.', []],
    ['hashed.test.', ['-3', 'aabbcc', '-H', '5']],
    ['optout.test.', OPT_OUT],
    ['salted.test.', ['-3', 'aabbcc', '-H', '5', '-A']],
    ...Object.keys(UNUSABLE).map((origin) => [origin, OPT_OUT] as const),
  ]
  const domain = topLevelDomain(delegations, random)
  return Promise.all([
    ...plans.map(([origin, how]) => write(directory, origin, small, how, smallNames(origin))),
    write(directory, 'tld.', domain.text, OPT_OUT, domain.names),
  ])
}

async function write(
  directory: string,
  origin: string,
  text: string,
  how: readonly string[],
  names: readonly string[],
): Promise<DenialZone> {
  const source = join(directory, `${origin}source`)
  const file = join(directory, `${origin}zone`)
  await writeFile(source, `$ORIGIN ${origin}\n${text}\n`)
  const anchor = await sign(directory, origin, source, how)
  await run('named-compilezone', ['-q', '-i', 'none', '-s', 'full', '-o', file, origin, source])
  const unusable = UNUSABLE[origin]
  if (unusable !== undefined)
    await writeFile(file, `${origin} 0 IN NSEC3PARAM ${unusable}\n${await readFile(file, 'utf8')}`)
  return { origin, file, anchor, names }
}

/** Every name, those below and next to it, and its wildcards. */
function smallNames(origin: string): string[] {
  const owners = SMALL.slice(1).map((line) => line.split(' ')[0])
  const names = new Set<string>()
  for (const owner of owners) {
    const labels = owner === '@' ? [] : owner.split('.')
    for (let i = 0; i <= labels.length; i++) {
      const ancestor = [...labels.slice(i), ''].join('.') + origin
      for (const prefix of ['', 'nx.', 'a.b.', '*.', '0.', 'zzz.']) names.add(prefix + ancestor)
    }
  }
  return [...names]
}

/** One in twelve delegations is signed, one in ten is alone below an empty non-terminal. */
function topLevelDomain(delegations: number, random: Random): { text: string; names: string[] } {
  const lines = [...HEAD]
  const names: string[] = []
  for (let i = 0; i < delegations; i++) {
    const owner = i % 10 === 0 ? `d${i}.ent${i % 70}` : `d${i}`
    lines.push(`${owner} NS ns${i % 5}.elsewhere.invalid.`)
    if (random.below(12) === 0) lines.push(`${owner} ${DS}`)
    if (random.below(8) === 0) names.push(`${owner}.tld.`)
    if (random.below(8) === 0) names.push(`x${random.below(1 << 30)}.tld.`)
    if (random.below(8) === 0) names.push(`x${random.below(1 << 30)}.ent${(i % 7) * 10}.tld.`)
    if (random.below(30) === 0) names.push(`a.b.x${random.below(1 << 30)}.ent${(i % 7) * 10}.tld.`)
  }
  return { text: lines.join('\n'), names: [...new Set(names)] }
}
