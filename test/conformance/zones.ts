// The zones every server gets: the files in zones/ (the file name is the origin) and one made here because nobody would
// want to read it. Some are signed on the way, and all go through BIND's compiler, since neither NSD nor Knot knows
// $GENERATE; that leaves one record per line with every name absolute, which is also where the queries come from.

import { execFile } from 'node:child_process'
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ZoneFile } from '../support/name-server.ts'

const run = promisify(execFile)
const SOURCES = new URL('./zones/', import.meta.url).pathname
/** How dnssec-signzone is to sign: NSEC, NSEC3, NSEC3 with opt-out. */
const SIGNED: Readonly<Record<string, readonly string[]>> = {
  'secure.example.': [],
  'child.secure.example.': [],
  'hashed.example.': ['-3', 'aabbccdd', '-H', '3'],
  'optout.example.': ['-3', '-', '-H', '0', '-A'],
}
/** Copies of secure.example, to be signed another way. */
const COPIES = ['hashed.example.', 'optout.example.']

export interface ConformanceZone extends ZoneFile {
  /** The types at each owner name, both as text. */
  readonly owners: ReadonlyMap<string, ReadonlySet<string>>
}

/** A zone to be written: its text, and how to sign it if at all. */
export interface ZonePlan {
  readonly origin: string
  readonly text: string
  readonly how: readonly string[] | undefined
  /** Keys and signatures are taken out again, which leaves a chain that proves nothing. */
  readonly isStripped?: boolean
}

export async function writeZones(directory: string, plans?: readonly ZonePlan[]): Promise<ConformanceZone[]> {
  return Promise.all(
    (plans ?? (await conformancePlans())).map(async ({ origin, text, how, isStripped }): Promise<ConformanceZone> => {
      const source = join(directory, `${origin}zone.source`)
      await writeFile(source, text)
      if (how !== undefined) await sign(directory, origin, source, how)
      const file = join(directory, `${origin}zone`)
      await run('named-compilezone', ['-i', 'none', '-k', 'ignore', '-s', 'full', '-o', file, origin, source])
      if (isStripped === true) await strip(file)
      return { origin, file, owners: owners(await readFile(file, 'utf8')) }
    }),
  )
}

async function strip(file: string): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  await writeFile(file, lines.filter((line) => !/ IN (RRSIG|DNSKEY)\s/u.test(line)).join('\n'))
}

async function conformancePlans(): Promise<ZonePlan[]> {
  const names = (await readdir(SOURCES)).filter((name) => name.endsWith('.zone')).sort()
  const texts = new Map<string, string>()
  for (const name of names) texts.set(name.replace(/zone$/, ''), await readFile(join(SOURCES, name), 'utf8'))
  const secure = texts.get('secure.example.')!
  for (const copy of COPIES) texts.set(copy, secure.replaceAll('secure.example.', copy))
  texts.set('deep.example.', deepZone())
  return Array.from(texts, ([origin, text]) => ({ origin, text, how: SIGNED[origin] }))
}

function owners(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const line of text.split('\n')) {
    const [owner, , , type] = line.split(/\s+/)
    if (type === undefined) continue
    found.set(owner, (found.get(owner) ?? new Set()).add(type))
  }
  return found
}

/** One ECDSA key for everything, valid for ten years so that no clock matters. Returns the key as a DNSKEY record. */
export async function sign(directory: string, origin: string, file: string, how: readonly string[]): Promise<string> {
  const zone = origin === '.' ? origin : origin.replace(/\.$/, '')
  const keygen = ['-K', directory, '-a', 'ECDSAP256SHA256', '-f', 'KSK', zone]
  const { stdout } = await run('dnssec-keygen', keygen)
  const key = await readFile(join(directory, `${stdout.trim()}.key`), 'utf8')
  await writeFile(file, `${await readFile(file, 'utf8')}\n${key}`)
  await run('dnssec-signzone', [
    '-z',
    ...how,
    '-d',
    directory,
    '-P',
    '-e',
    'now+315360000',
    '-o',
    origin,
    '-f',
    `${file}.signed`,
    file,
    join(directory, stdout.trim()),
  ])
  await copyFile(`${file}.signed`, file)
  return key.split('\n').find((line) => !line.startsWith(';'))!
}

/** Names as deep (127 labels) and as long (255 bytes) as they may be, with a cut and a wildcard far down. */
function deepZone(): string {
  const label63 = 'x'.repeat(63)
  const deepest = '1.'.repeat(120).slice(0, -1)
  const longest = `${label63}.${label63}.${label63}.${'y'.repeat(48)}`
  return [
    '$ORIGIN deep.example.',
    '$TTL 60',
    '@ IN SOA ns hostmaster 1 3600 900 604800 60',
    '@ IN NS ns',
    'ns IN A 192.0.2.1',
    `${deepest} IN A 192.0.2.2`,
    `${longest} IN A 192.0.2.3`,
    `alias IN CNAME ${longest}`,
    `*.${'2.'.repeat(60)}wild IN A 192.0.2.4`,
    `${'3.'.repeat(50)}cut IN NS ns`,
    `${label63}.${label63} IN MX 10 ${longest}`,
    '',
  ].join('\n')
}
