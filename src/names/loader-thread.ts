// The main thread's handle on the loading thread.

import { Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { workerUrl } from '../lib/worker-url.ts'
import type { LoaderData, LoaderReport, LoaderRequest, SearchFound, SearchRequest } from './loader-messages.ts'
import type { SearchResult } from './skydns/search.ts'

/** Searches take milliseconds each, and changes wait behind them: more at a time are refused. */
const MOST_SEARCHES = 64

export class LoaderThread {
  readonly #worker: Worker
  readonly #searches = new Map<number, (result: SearchResult | undefined) => void>()
  #nextId = 0
  #stopping = false
  #ended = false

  /** `onFailure` is called when the thread dies by itself: what is in service stays, but nothing changes any more. */
  constructor(data: LoaderData, onReport: (report: LoaderReport) => void, onFailure: (error: Error) => void) {
    this.#worker = new Worker(workerUrl('loader-worker', import.meta.url), {
      workerData: data,
      transferList: [...data.readers],
      name: 'holdfast-load',
    })
    this.#worker.on('message', (report: LoaderReport | SearchFound) => {
      if (report.kind === 'found') this.#found(report.id, report.result)
      else onReport(report)
    })
    this.#worker.on('error', (error: Error) => {
      if (!this.#stopping) onFailure(error)
    })
    this.#worker.on('exit', () => {
      this.#ended = true
      for (const id of this.#searches.keys()) this.#found(id, undefined)
    })
  }

  /** Lets another reader have the arenas. */
  addReader(port: MessagePort): void {
    this.#send({ kind: 'reader', port }, [port])
  }

  /** What a question that searches finds; undefined when nobody searches there, or no longer. */
  search(question: Omit<SearchRequest, 'kind' | 'id'>): Promise<SearchResult | undefined> {
    if (this.#searches.size >= MOST_SEARCHES) return Promise.resolve(undefined)
    if (this.#ended) return Promise.resolve(undefined)
    const id = this.#nextId++
    const { promise, resolve } = Promise.withResolvers<SearchResult | undefined>()
    this.#searches.set(id, resolve)
    this.#send({ kind: 'search', id, ...question }, [])
    return promise
  }

  /** Ends it wherever it is: nobody is left to see what it was loading. Also when it has ended by itself. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#worker.terminate()
  }

  #found(id: number, result: SearchResult | undefined): void {
    this.#searches.get(id)?.(result)
    this.#searches.delete(id)
  }

  #send(request: LoaderRequest, transfer: readonly MessagePort[]): void {
    this.#worker.postMessage(request, [...transfer])
  }
}
