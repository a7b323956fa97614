// Documents are tests: every fenced block of README, docs and examples is run or loaded. The word after the fence
// decides how; CONTRIBUTING.md describes the convention, which this file implements.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseCorefile } from '../src/server/corefile/parse-corefile.ts'
import { loadNames } from '../src/server/names-yaml/load-names.ts'
import { loadStack } from '../src/stack/load-stack.ts'
import { freePort } from './support/ports.ts'

const root = join(import.meta.dirname, '..')
const PORTS = ['5300', '8080', '8181', '9153']
const COPIED = ['bin', 'examples', 'docs', 'package.json', 'README.md']
/** The same files everywhere, so that Node finds them compiled. */
const LINKED = ['src', 'node_modules']

interface Block {
  readonly line: number
  readonly kind: string
  readonly text: string
  /** The `text` block that follows. */
  readonly output: string | undefined
}

const pages = globSync(['README.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: root }).toSorted()

test('there are blocks to run', () => {
  expect(pages.flatMap(readBlocks).filter((block) => block.kind === 'sh').length).toBeGreaterThan(5)
})

describe.each(pages.filter((page) => readBlocks(page).length > 0))('%s', (page) => {
  let place: Place
  beforeAll(async () => {
    place = await makePlace()
  })
  afterAll(async () => {
    await place.stopServer()
    rmSync(place.directory, { recursive: true })
  })

  test.each(readBlocks(page))('$kind at line $line', async ({ kind, text, output }) => {
    switch (kind) {
      case 'sh':
      case 'sh fails': {
        const ran = place.run(text)
        if (kind === 'sh') expect(ran.status, ran.output).toBe(0)
        else expect(ran.status, ran.output).not.toBe(0)
        if (output !== undefined) expect(ran.output).toMatch(expectedOutput(place.withPorts(output)))
        return
      }
      case 'sh server':
        await place.stopServer()
        await place.startServer(text)
        return
      case 'corefile':
        expect(() => loadCorefile(text, `${page} block`)).not.toThrow()
        return
      case 'zone':
        checkZone(place, text)
        return
      case 'yaml names.yaml':
        expect(() => loadNamesYaml(text, `${page} block`)).not.toThrow()
        writeFileSync(join(place.directory, 'names.yaml'), place.withPorts(text))
        return
      case 'yaml stack.yaml':
        await expect(loadStackFile(place, 'stack.yaml', text)).resolves.toBeDefined()
        return
      case 'ts stack.ts': {
        const define = join(root, 'src/stack/define-stack.ts')
        const linked = text.replace("from 'holdfast'", `from ${JSON.stringify(define)}`)
        await expect(loadStackFile(place, 'stack.ts', linked)).resolves.toBeDefined()
        return
      }
      default:
        throw new Error(`a block of kind "${kind}" is not run by any test; see CONTRIBUTING.md`)
    }
  })
})

describe('examples', () => {
  test.each(globSync('examples/Corefile*', { cwd: root }))('%s is accepted', (path) => {
    expect(() => loadCorefile(readFileSync(join(root, path), 'utf8'), path)).not.toThrow()
  })

  test.each(globSync('examples/names/*.yaml', { cwd: root }))('%s is accepted', (path) => {
    const text = readFileSync(join(root, path), 'utf8')
    expect(() => loadNamesYaml(text, path)).not.toThrow()
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)$/mu.exec(text) ?? []
    expect(existsSync(join(root, dirname(path), schema)), 'editors find the schema').toBe(true)
  })

  test('zones are accepted without a warning', () => {
    const zones = globSync('examples/zones/*', { cwd: root })
    expect(zones.length).toBeGreaterThan(0)
    const { stdout, stderr } = spawnSync(join(root, 'bin/holdfast'), ['zone', 'check', ...zones], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    expect(stdout.trimEnd().split('\n')).toHaveLength(zones.length)
  })
})

describe('links', () => {
  test.each(globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: root }))(
    'of %s lead to files that exist',
    (page) => {
      const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```.*?^```$/gmsu, '')
      const targets = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/gu)].map((match) => join(dirname(page), match[1]))
      expect(targets.filter((target) => globSync(target, { cwd: root }).length === 0)).toEqual([])
    },
  )
})

function readBlocks(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8')
  const fences = [...text.matchAll(/^```([^\n]*)\n(.*?)^```$/gmsu)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    kind: match[1].trim(),
    text: match[2],
  }))
  return (
    fences
      .map((fence, index) => ({
        ...fence,
        output: fences[index + 1]?.kind === 'text' ? fences[index + 1].text : undefined,
      }))
      // scripts/try-lab.sh runs what needs a whole host.
      .filter((block) => !['text', 'sh lab', 'sh hypervisor'].includes(block.kind))
  )
}

function loadCorefile(text: string, file: string): void {
  const readFile = (path: string) => readFileSync(path, 'utf8')
  parseCorefile(text, { file, env: {}, readFile, hostname: 'localhost' })
}

/** Files it names are next to it. */
function loadStackFile(place: Place, name: string, text: string): Promise<unknown> {
  const directory = mkdtempSync(join(place.directory, 'stack-'))
  cpSync(join(root, 'examples/lab/zones'), join(directory, 'zones'), { recursive: true })
  for (const secret of ['postgres-password', 'logs.key', 'logs-ca.pem', 'fluentbit.key', 'GPG-KEY-fluent-package'])
    writeFileSync(join(directory, secret), 'secret\n')
  writeFileSync(join(directory, name), text)
  return loadStack({ file: join(directory, name), env: {} })
}

/** Secrets and addresses are elsewhere; everything else must be there. */
function loadNamesYaml(text: string, file: string): void {
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const env = new Proxy({}, { get: (_, name) => (String(name).endsWith('_IP') ? '192.0.2.53' : 'secret') })
  loadNames(text, { file, env, readFile, readSecret: () => 'secret', hostname: 'localhost' })
}

/** A block without SOA is a part of a zone: it gets an apex, so that what it says can be read. */
function checkZone(place: Place, text: string): void {
  const whole = /\bSOA\b/u.test(text) ? text : `$TTL 1h\n@ SOA ns h 1 2h 30m 2w 5m\n@ NS ns\nns A 192.0.2.1\n${text}`
  const [, origin = 'example.test.'] = /^\$ORIGIN\s+(\S+)/mu.exec(text) ?? []
  writeFileSync(join(place.directory, 'block.zone'), whole)
  const { status, output } = place.run(`holdfast zone check --origin ${origin} block.zone`)
  expect(status, output).toBe(0)
}

/** `…` alone on a line is any number of lines, elsewhere anything within the line. */
function expectedOutput(text: string): RegExp {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => {
      if (line === '…') return String.raw`(?:[^\n]*\n)*`
      const parts = line
        .trimEnd()
        .split('…')
        .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`))
      return String.raw`${parts.join(String.raw`[^\n]*`)}[ \t]*\n`
    })
  return new RegExp(`^${lines.join('')}$`, 'u')
}

interface Place {
  readonly directory: string
  /** The text with the ports of this place. */
  withPorts(text: string): string
  run(script: string): { status: number | null; output: string }
  startServer(script: string): Promise<void>
  stopServer(): Promise<void>
}

/** A copy of the package in a temporary directory, with ports of its own and `holdfast` on the path. */
async function makePlace(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-docs-'))
  const ports = new Map<string, string>()
  for (const port of PORTS) ports.set(port, String(await freePort()))
  const withPorts = (text: string) =>
    text.replaceAll(/\b(?:5300|8080|8181|9153)\b/gu, (port) => ports.get(port) ?? port)

  for (const path of COPIED) cpSync(join(root, path), join(directory, path), { recursive: true })
  for (const path of LINKED) symlinkSync(join(root, path), join(directory, path))
  for (const path of globSync(['package.json', 'examples/**/*'], { cwd: directory, withFileTypes: true })) {
    const file = join(path.parentPath, path.name)
    if (path.isFile()) writeFileSync(file, withPorts(readFileSync(file, 'utf8')))
  }

  // The tree is installed already: these tests run from it.
  const shims = join(directory, 'shims')
  mkdirSync(shims)
  writeFileSync(join(shims, 'npm'), `#!/bin/sh\n[ "$1" = ci ] || PATH=$\{PATH#*:} exec npm "$@"\n`)
  chmodSync(join(shims, 'npm'), 0o755)
  const env = { ...process.env, PATH: [shims, join(directory, 'bin'), process.env['PATH']].join(delimiter) }

  let server: { child: ChildProcess; output: () => string } | undefined
  return {
    directory,
    withPorts,
    run(script) {
      const options = { cwd: directory, env, encoding: 'utf8', timeout: 120_000 } as const
      const { status, stdout } = spawnSync('bash', ['-euc', `exec 2>&1\n${withPorts(script)}`], options)
      return { status, output: stdout }
    },
    async startServer(script) {
      // A group of its own, so that npm, its shell and the server all get the signal, as from a terminal.
      const child = spawn('bash', ['-euc', withPorts(script)], { cwd: directory, env, detached: true })
      let output = ''
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
      child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
      server = { child, output: () => output }
      await untilListening(Number(ports.get('5300')), server)
    },
    async stopServer() {
      if (server === undefined) return
      const { child, output } = server
      server = undefined
      if (child.exitCode === null && child.signalCode === null) {
        const group = -(child.pid ?? 0)
        const ended = once(child, 'exit')
        process.kill(group, 'SIGINT')
        const hanging = setTimeout(() => process.kill(group, 'SIGKILL'), 120_000)
        await ended
        clearTimeout(hanging)
      }
      // A shell or npm may end by the signal itself; the server ends in order.
      expect([130, 'SIGINT'], output()).toContain(child.exitCode ?? child.signalCode)
    },
  }
}

async function untilListening(port: number, server: { child: ChildProcess; output: () => string }): Promise<void> {
  for (;;) {
    if (server.child.exitCode !== null) throw new Error(`the server ended early:\n${server.output()}`)
    const socket = connect(port, '127.0.0.1')
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (open) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
