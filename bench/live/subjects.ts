// What is compared: our server with zones from etcd and with SkyDNS records, CoreDNS's etcd plugin, and CoreDNS's `auto` on
// the files that `holdfast publish zonefiles` writes. Each has a prefix of its own in etcd, so that all can be up together
// and only one has something to do.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from '../processes.ts'

export type Kind = 'zone' | 'skydns'

export interface Setup {
  readonly endpoint: string
  /** An empty directory of the subject's own. */
  readonly directory: string
  readonly port: number
  readonly workers: number
}

export interface Subject {
  readonly id: string
  readonly title: string
  readonly kind: Kind
  /** For the document. */
  readonly settings: string
  readonly prefix: string
  readonly isCoredns: boolean
  /** A change is seen with the next reading of files: seconds. */
  readonly isSlow: boolean
  /** Writes the configuration; the first command is the server, the others work beside it. */
  prepare(programs: Programs, setup: Setup): Promise<readonly Command[]>
}

export interface Programs {
  readonly holdfast: string
  /** Undefined where it is not built. */
  readonly coredns: string | undefined
}

export const ORIGIN = 'bench.example.'
export const RELOAD_SECONDS = 3

export const SUBJECTS: readonly Subject[] = [
  {
    id: 'holdfast-zones',
    title: 'Holdfast, zone in etcd',
    kind: 'zone',
    settings: '`names.yaml` with `etcd-zones`',
    prefix: '/holdfast-zones/',
    isCoredns: false,
    isSlow: false,
    prepare: ({ holdfast }, setup) => names(holdfast, setup, '{ type: etcd-zones, prefix: /holdfast-zones/ }'),
  },
  {
    id: 'holdfast-skydns',
    title: 'Holdfast, SkyDNS',
    kind: 'skydns',
    settings: '`names.yaml` with `skydns`',
    prefix: '/holdfast-skydns',
    isCoredns: false,
    isSlow: false,
    prepare: ({ holdfast }, setup) =>
      names(holdfast, setup, `{ type: skydns, zones: [${ORIGIN}], path: /holdfast-skydns }`),
  },
  {
    id: 'coredns-etcd',
    title: 'CoreDNS etcd',
    kind: 'skydns',
    settings: '`etcd` with `path` and `endpoint`, no `cache`, no `log`, no `prometheus`',
    prefix: '/coredns-etcd',
    isCoredns: true,
    isSlow: false,
    prepare: ({ coredns }, setup) =>
      corefile(coredns, setup, `etcd ${ORIGIN} {\n path /coredns-etcd\n endpoint ${setup.endpoint}\n }`),
  },
  {
    id: 'coredns-auto',
    title: `CoreDNS auto, ${RELOAD_SECONDS} s`,
    kind: 'zone',
    settings: `\`auto\` with \`reload ${RELOAD_SECONDS}s\` on the directory of \`holdfast publish zonefiles\``,
    prefix: '/coredns-auto/',
    isCoredns: true,
    isSlow: true,
    async prepare({ coredns, holdfast }, setup) {
      const zones = join(setup.directory, 'zones')
      await mkdir(zones)
      const auto = `auto {\n directory ${zones} (.*) {1}\n reload ${RELOAD_SECONDS}s\n }`
      const source = ['--endpoints', setup.endpoint, '--prefix', '/coredns-auto/']
      const publisher = { file: holdfast, args: ['publish', 'zonefiles', '--directory', zones, ...source] }
      return [...(await corefile(coredns, setup, auto)), publisher]
    },
  },
]

async function names(program: string, setup: Setup, source: string): Promise<Command[]> {
  const { endpoint, directory, port, workers } = setup
  const file = join(directory, 'names.yaml')
  const text = `etcd: { endpoints: [${endpoint}] }
sources: [${source}]
serve: { listen: [127.0.0.1:${port}], state: ${join(directory, 'state')} }
`
  await writeFile(file, text)
  return [{ file: program, args: ['dns', '--config', file, '--workers', String(workers)] }]
}

async function corefile(program: string | undefined, setup: Setup, directive: string): Promise<Command[]> {
  const { directory, port, workers } = setup
  const file = join(directory, 'Corefile')
  await writeFile(file, `.:${port} {\n bind 127.0.0.1\n ${directive}\n}\n`)
  return [{ file: program ?? '', args: ['-quiet', '-conf', file], env: { GOMAXPROCS: String(workers) } }]
}
