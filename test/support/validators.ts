// Programs that validate what a name server answers: Unbound as a resolver, for many questions at once, delv and
// unbound-host for one. All trust the keys of the zones they are given, and nothing else.

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type NameServer, nameServer } from './name-server.ts'

/** What a validator thinks of an answer. `bogus` includes every other failure. */
export type Security = 'secure' | 'insecure' | 'bogus'

export interface SignedZone {
  readonly origin: string
  /** The key-signing key as a DNSKEY record. */
  readonly anchor: string
}

/** Unbound in front of the name server at a port, without a cache that could answer for it. */
export function unbound(upstreamPort: number, zones: readonly SignedZone[]): NameServer {
  return nameServer('unbound', async (directory, port) => {
    const config = await writeUnboundConfig(directory, upstreamPort, zones, [
      `  interface: 127.0.0.1@${port}`,
      '  access-control: 127.0.0.0/8 allow',
      '  num-threads: 1',
    ])
    return { program: '/usr/sbin/unbound', args: ['-d', '-d', '-c', config] }
  })
}

/** A file for Unbound and unbound-host. */
export async function writeUnboundConfig(
  directory: string,
  upstreamPort: number,
  zones: readonly SignedZone[],
  settings: readonly string[] = [],
): Promise<string> {
  const anchors = join(directory, 'anchors')
  await writeFile(anchors, zones.map(({ anchor }) => `${anchor}\n`).join(''))
  const lines = [
    'server:',
    ...settings,
    `  directory: "${directory}"`,
    '  username: ""',
    '  chroot: ""',
    '  pidfile: ""',
    '  use-syslog: no',
    '  do-not-query-localhost: no',
    '  module-config: "validator iterator"',
    `  trust-anchor-file: "${anchors}"`,
    '  aggressive-nsec: no',
    '  qname-minimisation: no',
    '  harden-below-nxdomain: no',
    '  minimal-responses: yes',
    '  target-fetch-policy: "0 0 0 0 0"',
    '  cache-max-negative-ttl: 0',
    '  cache-max-ttl: 60',
    // Unbound denies the names of RFC 6761 by itself otherwise.
    '  local-zone: "test." nodefault',
    'remote-control:',
    '  control-enable: no',
    ...zones.flatMap(({ origin }) => [
      'stub-zone:',
      `  name: "${origin}"`,
      `  stub-addr: 127.0.0.1@${upstreamPort}`,
      '  stub-prime: no',
    ]),
  ]
  const file = join(directory, 'unbound.conf')
  await writeFile(file, `${lines.join('\n')}\n`)
  return file
}

/** One question to unbound-host, which prints what it thinks in parentheses. */
export async function askUnboundHost(config: string, name: string, type: string): Promise<Security> {
  const output = await run('unbound-host', ['-C', config, '-v', '-t', type, name])
  if (/\(BOGUS/u.test(output)) return 'bogus'
  if (/\(secure\)/u.test(output)) return 'secure'
  return /\(insecure\)/u.test(output) ? 'insecure' : 'bogus'
}

/** One question to delv, which reads the anchor from the file that `writeDelvAnchor` made. */
export async function askDelv(
  port: number,
  anchorFile: string,
  origin: string,
  name: string,
  type: string,
): Promise<Security> {
  const output = await run('delv', [
    ...['@127.0.0.1', '-p', String(port), '-a', anchorFile, `+root=${origin}`, '-q', name, '-t', type],
  ])
  // An alias may be validated, and its target not.
  if (/resolution failed: (?!ncache )/u.test(output)) return 'bogus'
  if (/fully validated/u.test(output)) return 'secure'
  return /unsigned answer/u.test(output) ? 'insecure' : 'bogus'
}

export async function writeDelvAnchor(directory: string, { origin, anchor }: SignedZone): Promise<string> {
  const [numbers, key] = anchor.split(/DNSKEY\s+/u)[1].match(/^\d+ \d+ \d+|\S{40}.*$/gu) ?? []
  const file = join(directory, `${origin}anchor`)
  await writeFile(file, `trust-anchors { "${origin}" static-key ${numbers} "${key}"; };\n`)
  return file
}

function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: 60_000 }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
}
