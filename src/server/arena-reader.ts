// One thread's access to the zones: between `enter` and `leave` nothing it can see is reused, and a larger arena that
// has taken the old one's place is picked up on the way in.

import { receiveMessageOnPort } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { Control } from '../zone/epoch.ts'
import type { Query } from '../zone/query.ts'

export interface ArenaMessage {
  readonly generation: number
  readonly arena: SharedArrayBuffer
}

export class ArenaReader {
  readonly #control: Control
  readonly #reader: number
  readonly #arenas: MessagePort
  readonly #query: Query
  #generation = 0

  constructor(control: Control, reader: number, arenas: MessagePort, query: Query) {
    this.#control = control
    this.#reader = reader
    this.#arenas = arenas
    this.#query = query
    // No listener: messages wait until `enter` takes them. The port must not keep a thread alive.
    arenas.unref()
    this.refresh()
  }

  /** Goes over to the newest arena without waiting for the next query: the old one is memory for nothing. */
  refresh(): void {
    this.enter()
    this.leave()
  }

  /** The arena in use, to start another reader with. */
  get current(): ArenaMessage {
    this.refresh()
    return { generation: this.#generation, arena: this.#query.words.buffer as SharedArrayBuffer }
  }

  enter(): void {
    this.#control.enter(this.#reader)
    if (this.#control.generation !== this.#generation) this.#follow()
  }

  leave(): void {
    this.#control.leave(this.#reader)
  }

  /** The writer posts an arena before it moves the generation on, so the newest one is in the queue. */
  #follow(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#arenas)
      if (received === undefined) return
      const { generation, arena } = received.message as ArenaMessage
      this.#generation = generation
      this.#query.attach(arena)
    }
  }
}
