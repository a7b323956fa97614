// One psql that stays connected and runs statements one by one. What a statement returned counts only when psql reports that
// the server has completed it.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** `lost`: the connection or the time is over, and the outcome of the statement is unknown. */
export type Answer =
  | { readonly kind: 'rows'; readonly rows: readonly string[] }
  | { readonly kind: 'error'; readonly sqlState: string }
  | { readonly kind: 'lost' }

const LOST: Answer = { kind: 'lost' }
const END = 'statement-ended'

export class PsqlDialog {
  readonly #psql: ChildProcessWithoutNullStreams
  readonly #timeoutMs: number
  #rows: string[] = []
  #settle: ((answer: Answer) => void) | undefined
  #hasEnded = false

  /** Undefined when there is no connection soon. */
  static async open(env: Readonly<Record<string, string>>, timeoutMs: number): Promise<PsqlDialog | undefined> {
    const dialog = new PsqlDialog(env, timeoutMs)
    if ((await dialog.ask('SELECT 1;')).kind === 'rows') return dialog
    dialog.end()
    return undefined
  }

  private constructor(env: Readonly<Record<string, string>>, timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.#psql = spawn('psql', ['-XAtq', '-F', ' '], { env: { PATH: process.env.PATH, ...env } })
    createInterface(this.#psql.stdout).on('line', (line) => this.#read(line))
    this.#psql.stderr.resume()
    // It may end while it is written to.
    this.#psql.stdin.on('error', () => undefined)
    this.#psql.once('error', () => this.#close())
    this.#psql.once('close', () => this.#close())
  }

  /** One statement. After `lost` the dialog is of no use any more. */
  async ask(statement: string): Promise<Answer> {
    if (this.#hasEnded) return LOST
    const { promise, resolve } = Promise.withResolvers<Answer>()
    this.#rows = []
    this.#settle = resolve
    const timer = setTimeout(resolve, this.#timeoutMs, LOST)
    this.#psql.stdin.write(`${statement}\n\\echo ${END} :SQLSTATE\n`)
    const answer = await promise
    clearTimeout(timer)
    this.#settle = undefined
    if (answer.kind === 'lost') this.end()
    return answer
  }

  end(): void {
    this.#hasEnded = true
    this.#psql.kill('SIGKILL')
  }

  #read(line: string): void {
    if (!line.startsWith(`${END} `)) {
      this.#rows.push(line)
      return
    }
    const sqlState = line.slice(END.length + 1)
    this.#settle?.(sqlState === '00000' ? { kind: 'rows', rows: this.#rows } : { kind: 'error', sqlState })
  }

  #close(): void {
    this.#hasEnded = true
    this.#settle?.(LOST)
  }
}
