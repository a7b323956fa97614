// One psql that stays connected and inserts numbers one by one. A number counts as acknowledged when psql prints it: it
// does so only after the server has said that the transaction is committed.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export interface PsqlOptions {
  /** Environment of psql: where to, as whom, and how TLS is checked. */
  readonly env: Readonly<Record<string, string>>
  readonly table: string
}

const CONNECTED = 'connected'
/** For a connection, and for each number. */
const PATIENCE_MS = 3000

export class PsqlSession {
  readonly #psql: ChildProcessWithoutNullStreams
  readonly #table: string
  #expected: { readonly line: string; readonly settle: (isSeen: boolean) => void } | undefined
  #hasEnded = false
  /** What it said of its errors. */
  errors = ''

  /** Undefined when there is no connection soon. */
  static async open(options: PsqlOptions): Promise<PsqlSession | undefined> {
    const session = new PsqlSession(options)
    if (await session.#say(`\\echo ${CONNECTED}`, CONNECTED)) return session
    session.end()
    return undefined
  }

  private constructor({ env, table }: PsqlOptions) {
    this.#table = table
    this.#psql = spawn('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1'], { env: { PATH: process.env.PATH, ...env } })
    createInterface(this.#psql.stdout).on('line', (line) => {
      if (line === this.#expected?.line) this.#expected.settle(true)
    })
    this.#psql.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text
    })
    // It may end while it is written to.
    this.#psql.stdin.on('error', () => undefined)
    this.#psql.once('close', () => {
      this.#hasEnded = true
      this.#expected?.settle(false)
    })
  }

  /** Whether it was acknowledged. If not, nobody knows whether it was stored, and the session is of no use any more. */
  insert(number: number): Promise<boolean> {
    return this.#say(`INSERT INTO ${this.#table} VALUES (${number}) RETURNING number;`, String(number))
  }

  end(): void {
    this.#psql.kill('SIGKILL')
  }

  async #say(words: string, expected: string): Promise<boolean> {
    if (this.#hasEnded) return false
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#expected = { line: expected, settle: resolve }
    const timer = setTimeout(resolve, PATIENCE_MS, false)
    this.#psql.stdin.write(`${words}\n`)
    const isSeen = await promise
    clearTimeout(timer)
    this.#expected = undefined
    return isSeen
  }
}
