// The main thread's handle on the loading thread.

import { Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { workerUrl } from '../lib/worker-url.ts'
import type { LoaderData, LoaderReport, NewReader } from './loader-messages.ts'

export class LoaderThread {
  readonly #worker: Worker
  #stopping = false

  /** `onFailure` is called when the thread dies by itself: what is in service stays, but nothing changes any more. */
  constructor(data: LoaderData, onReport: (report: LoaderReport) => void, onFailure: (error: Error) => void) {
    this.#worker = new Worker(workerUrl('loader-worker', import.meta.url), {
      workerData: data,
      transferList: [...data.readers],
      name: 'holdfast-load',
    })
    this.#worker.on('message', onReport)
    this.#worker.on('error', (error: Error) => {
      if (!this.#stopping) onFailure(error)
    })
  }

  /** Lets another reader have the arenas. */
  addReader(port: MessagePort): void {
    const request: NewReader = { port }
    this.#worker.postMessage(request, [port])
  }

  /** Ends it wherever it is: nobody is left to see what it was loading. Also when it has ended by itself. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#worker.terminate()
  }
}
