// A real name server for a test: started by hand in the foreground on a free loopback port, everything it writes kept
// in a temporary directory, stopped by its process id. One implementation per server in name-servers.ts.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exchangeUdp } from './dns-client.ts'
import { freePort } from './ports.ts'

export interface ZoneFile {
  /** Absolute, with the final dot. */
  readonly origin: string
  readonly file: string
}

export interface RunningServer {
  readonly port: number
  stop(): Promise<void>
}

export interface NameServer {
  readonly name: string
  start(zones: readonly ZoneFile[]): Promise<RunningServer>
}

export interface Command {
  readonly program: string
  readonly args: readonly string[]
}

/** Makes a NameServer of the one thing in which they differ: writing the configuration and naming the command. */
export function nameServer(
  name: string,
  prepare: (directory: string, port: number, zones: readonly ZoneFile[]) => Promise<Command>,
): NameServer {
  return {
    name,
    async start(zones) {
      const directory = await mkdtemp(join(tmpdir(), `holdfast-${name}-`))
      const port = await freePort()
      const { program, args } = await prepare(directory, port, zones)
      const child = spawn(program, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
      const logFile = join(directory, 'output.log')
      const log = createWriteStream(logFile)
      child.stdout.pipe(log, { end: false })
      child.stderr.pipe(log, { end: false })
      const stop = async (): Promise<void> => {
        await terminate(child)
        log.end()
        await rm(directory, { recursive: true, force: true })
      }
      try {
        await serving(child, port, zones)
      } catch (cause) {
        const output = await readFile(logFile, 'utf8').catch(() => '')
        await stop()
        throw new Error(`Cannot start ${name}: ${String(cause)}\n${output.slice(-4000)}`, { cause })
      }
      return { port, stop }
    },
  }
}

async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
  await exited
  clearTimeout(timer)
}

/** Waits until every zone answers its SOA query with NOERROR. */
async function serving(child: ChildProcess, port: number, zones: readonly ZoneFile[]): Promise<void> {
  let failure: string | undefined
  child.once('error', (error) => {
    failure = error.message
  })
  child.once('exit', (code, signal) => {
    failure ??= `it ended with ${signal ?? code}`
  })
  const queries = zones.map((zone) => soaQuery(zone.origin))
  const deadline = Date.now() + 120_000
  for (;;) {
    const answers = await exchangeUdp(port, queries, { timeoutMs: 1000, attempts: 1 })
    if (failure !== undefined) throw new Error(failure)
    const waiting = zones.filter((_, index) => !hasAnswer(answers[index]))
    if (waiting.length === 0) return
    if (Date.now() > deadline) throw new Error(`no answer yet for ${waiting.map((zone) => zone.origin).join(' ')}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function soaQuery(origin: string): Uint8Array {
  const labels = origin.split('.').filter((label) => label !== '')
  const name = labels.flatMap((label) => [label.length, ...Buffer.from(label, 'latin1')])
  // RD, for a resolver.
  return Uint8Array.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, 0, 6, 0, 1])
}

function hasAnswer(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && bytes.length > 12 && (bytes[3] & 15) === 0 && bytes[7] > 0
}
