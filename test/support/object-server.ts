// An API server of one kind of objects, for what a real one cannot be brought to do: forget its data, go back in history,
// refuse. Lists and watches as Kubernetes does, without pages: a watch begins with what happened after its version.

import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KubeObject } from '../../src/kube/resource.ts'

export class ObjectServer {
  readonly #server: Server
  readonly #watches = new Set<ServerResponse>()
  readonly #objects = new Map<string, KubeObject>()
  readonly #events: { readonly version: number; readonly line: string }[] = []
  version = 1000
  /** Answers every request with this status instead. */
  refusal: number | undefined

  static async start(): Promise<ObjectServer> {
    const server = new ObjectServer()
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      if (this.refusal !== undefined) {
        const status = { kind: 'Status', apiVersion: 'v1', code: this.refusal, message: 'refused' }
        response.writeHead(this.refusal, { 'content-type': 'application/json' }).end(JSON.stringify(status))
      } else if (request.url?.includes('watch=true')) {
        response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
        const after = Number(new URL(request.url, this.url).searchParams.get('resourceVersion'))
        for (const { version, line } of this.#events) if (version > after) response.write(line)
        this.#watches.add(response)
        response.on('close', () => this.#watches.delete(response))
      } else {
        const metadata = { resourceVersion: String(this.version) }
        const list = { kind: 'ThingList', apiVersion: 'v1', metadata, items: [...this.#objects.values()] }
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list))
      }
    })
  }

  get watches(): number {
    return this.#watches.size
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  put(object: KubeObject): void {
    const metadata = { ...object.metadata, resourceVersion: String(++this.version) }
    this.#objects.set(metadata.name, { ...object, metadata })
    this.#tell('ADDED', { ...object, metadata })
  }

  delete(name: string): void {
    const object = this.#objects.get(name)
    this.#objects.delete(name)
    if (object === undefined) return
    this.#tell('DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.version) } })
  }

  /** Everything is gone, as with an empty etcd behind it. */
  loseData(): void {
    this.#objects.clear()
    this.#events.length = 0
    this.version = 10
    this.cut()
  }

  cut(): void {
    for (const watch of this.#watches) watch.destroy()
  }

  async stop(): Promise<void> {
    this.cut()
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #tell(type: string, object: KubeObject): void {
    const line = `${JSON.stringify({ type, object })}\n`
    this.#events.push({ version: this.version, line })
    for (const watch of this.#watches) watch.write(line)
  }
}
