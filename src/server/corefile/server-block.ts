// One server block of a Corefile to the configuration: its keys to zones and ports, its directives through
// the table. A block whose keys name several ports becomes one configuration block per port.

import type { ServerBlock } from '../config.ts'
import { known } from './arguments.ts'
import type { BlockScope } from './directives/directive.ts'
import { DEFAULT_UDP_BYTES } from './directives/bufsize.ts'
import { DIRECTIVES, MISSING_PLUGINS, REPEATABLE } from './directives/table.ts'
import type { Token } from './lexer.ts'
import { CorefileProblem, formatPosition, type Notice, reject } from './problem.ts'
import type { BlockSyntax, Statement } from './syntax.ts'
import { readKey } from './zones.ts'

export interface BlockContext {
  readonly defaultPort: number
  readonly hostname: string
  readonly readFile: (path: string) => string
}

/** What the block says, with every fault found in it. */
export interface ReadBlock {
  readonly blocks: readonly ServerBlock[]
  readonly notices: readonly Notice[]
  readonly problems: readonly CorefileProblem[]
}

type Settings = Omit<ServerBlock, 'at' | 'zones' | 'port'>

/** What holds where the block says nothing. */
export const DEFAULT_SETTINGS: Settings = {
  bind: [],
  root: undefined,
  files: [],
  autos: [],
  skydns: [],
  etcdZones: [],
  patronis: [],
  kubevirts: [],
  kubernetes: [],
  ptr: undefined,
  forwards: [],
  alternates: [],
  cache: undefined,
  loadbalance: true,
  nsid: undefined,
  udpBytes: DEFAULT_UDP_BYTES,
  minimalAny: true,
  log: [],
  errors: false,
  health: undefined,
  lameduckMs: 0,
  ready: undefined,
  prometheus: undefined,
  reloadMs: 0,
  loop: false,
}

export function readServerBlock(syntax: BlockSyntax, context: BlockContext): ReadBlock {
  const notices: Notice[] = []
  const problems: CorefileProblem[] = []
  const attempt = <T>(read: () => T, otherwise: T): T => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof CorefileProblem)) throw error
      problems.push(error)
      return otherwise
    }
  }

  const zonesByPort = new Map<number, string[]>()
  for (const key of syntax.keys) {
    const { zones, port = context.defaultPort } = attempt(() => readKey(key), { zones: [], port: undefined })
    zonesByPort.set(port, [...(zonesByPort.get(port) ?? []), ...zones])
  }

  const zones = [...new Set([...zonesByPort.values()].flat())]
  const isRoot = ({ name }: Statement) => name.text === 'root'
  const rootFirst = [...syntax.statements.filter(isRoot), ...syntax.statements.filter((each) => !isRoot(each))]
  const seen = new Map<string, Token>()
  let above: Partial<ServerBlock> = {}
  for (const statement of rootFirst) {
    const notice: BlockScope['notice'] = (at, message) => notices.push({ at: formatPosition(at), message })
    const { hostname, readFile } = context
    const scope: BlockScope = { zones, root: above.root, hostname, readFile, above, notice }
    above = merge(
      above,
      attempt(() => readStatement(statement, scope, seen), {}),
    )
  }

  const at = formatPosition(syntax.keys[0]).replace(/:\d+$/u, '')
  const blocks = [...zonesByPort].map(([port, served]) => ({ ...DEFAULT_SETTINGS, ...above, at, zones: served, port }))
  return { blocks, notices, problems }
}

function readStatement(statement: Statement, scope: BlockScope, seen: Map<string, Token>): Partial<ServerBlock> {
  const { name } = statement
  const word = name.text
  if (!Object.hasOwn(DIRECTIVES, word)) {
    if (MISSING_PLUGINS.has(word))
      reject(
        name,
        `"${word}" is a CoreDNS plugin that is not supported yet; docs/reference/corefile.md lists the supported directives`,
      )
    reject(name, `unknown directive "${word}"; ${known(word, DIRECTIVES)}`)
  }
  const earlier = seen.get(word)
  if (earlier !== undefined && !REPEATABLE.has(word)) {
    reject(name, `"${word}" stands twice, first at ${formatPosition(earlier)}; expected once in a server block`)
  }
  seen.set(word, name)
  return DIRECTIVES[word](statement, scope)
}

function merge(above: Partial<ServerBlock>, part: Partial<ServerBlock>): Partial<ServerBlock> {
  const joined: Record<string, unknown> = { ...above }
  for (const [key, value] of Object.entries<unknown>(part)) {
    const before = joined[key]
    joined[key] = isList(before) && isList(value) ? [...before, ...value] : value
  }
  return joined
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}
