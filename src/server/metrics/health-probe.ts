// Asks our own /health once a second, as CoreDNS does: how long that takes shows whether the process keeps up.

import { request } from 'node:http'
import { Histogram } from './histogram.ts'

const INTERVAL_MS = 1000
const TIMEOUT_MS = 3000
/** CoreDNS's bounds for this metric, in seconds. */
const BOUNDS: readonly number[] = [0.00025, 0.0025, 0.025, 0.25, 2.5]

export class HealthProbe {
  readonly durations = new Histogram(BOUNDS)
  #failures = 0
  readonly #timer: NodeJS.Timeout

  /** `host` empty: the server listens on every address. */
  constructor(host: string, port: number) {
    this.#timer = setInterval(() => this.#probe(host === '' ? 'localhost' : host, port), INTERVAL_MS)
    this.#timer.unref()
  }

  get failuresTotal(): number {
    return this.#failures
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #probe(host: string, port: number): void {
    const start = performance.now()
    const done = (healthy: boolean): void => {
      this.durations.observe((performance.now() - start) / 1000)
      if (!healthy) this.#failures++
    }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const asked = request({ host, port, path: '/health', agent: false, signal }, (response) => {
      response.resume()
      done(response.statusCode === 200)
    })
    asked.on('error', () => done(false))
    asked.end()
  }
}
