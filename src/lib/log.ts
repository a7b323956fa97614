// Messages for the operator in CoreDNS's form: `[INFO] message`, `[WARNING] …`, `[ERROR] …`, a line each.

import type { LogSink } from './log-sink.ts'

export class Log {
  readonly #sink: LogSink
  readonly #quiet: boolean

  /** A quiet log keeps only errors. */
  constructor(sink: LogSink, options: { readonly quiet?: boolean } = {}) {
    this.#sink = sink
    this.#quiet = options.quiet ?? false
  }

  info(message: string): void {
    if (!this.#quiet) this.#line('INFO', message)
  }

  warning(message: string): void {
    if (!this.#quiet) this.#line('WARNING', message)
  }

  error(message: string): void {
    this.#line('ERROR', message)
  }

  #line(level: string, message: string): void {
    this.#sink.write(Buffer.from(`[${level}] ${message.replaceAll(CONTROL, ' ')}\n`), 1)
  }
}

/**
 * Text from outside (a name, an error) must neither forge a line of its own nor steer a terminal, nor turn the direction
 * of what stands beside it.
 */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/gu
