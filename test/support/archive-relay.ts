// The way from a lab to the archives of packages that this host uses, and to nowhere else. Names of the archives lead to an
// address inside the lab (LibvirtLab.network has names), where requests are taken and handed out over a socket in the
// file system: no route, no rule of a firewall, nothing of the host's network is changed.
//
//   apt in a machine ── ADDRESS:80 ── relay-port.ts (inside) ── unix socket ── here ── archive

import { globSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import type { LibvirtLab } from './libvirt-lab.ts'

const PORT_PROGRAM = join(import.meta.dirname, 'relay-port.ts')

/** Names of the archives that apt uses here, where they are reached by plain HTTP; what is signed needs no more. */
export function archiveHosts(): readonly string[] {
  const files = globSync('/etc/apt/{sources.list,sources.list.d/*.{list,sources}}')
  const urls = files.flatMap((file) => readFileSync(file, 'utf8').match(/^[^#\n]*\bhttp:\/\/[^\s/]+/gmu) ?? [])
  if (urls.length === 0) throw new Error("Cannot hand out the archives of apt's sources: none is reached by http://")
  return [...new Set(urls.map((url) => url.slice(url.indexOf('http://') + 'http://'.length)))]
}

export class ArchiveRelay {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** Until the lab is closed, at port 80 of an address inside. */
  static async start(lab: LibvirtLab, address: string): Promise<ArchiveRelay> {
    const hosts = archiveHosts()
    const server = createServer((asked, answer) => hand(asked, answer, hosts))
    const socket = join(lab.directory, 'archive.sock')
    await once(server.listen(socket), 'listening')
    const port = lab.spawn([process.execPath, PORT_PROGRAM, address, socket])
    await Promise.race([
      once(port.stdout as NodeJS.EventEmitter, 'data'),
      once(port, 'exit').then(() => Promise.reject(new Error(`Cannot listen on ${address}:80 inside the lab`))),
    ])
    return new ArchiveRelay(server)
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

function hand(asked: IncomingMessage, answer: ServerResponse, hosts: readonly string[]): void {
  const { method, url, headers } = asked
  const host = headers.host ?? ''
  if (!hosts.includes(host)) {
    answer.writeHead(403).end()
    return
  }
  const handed = request({ host, method, path: url, headers }, (found) => {
    answer.writeHead(found.statusCode ?? 502, found.headers)
    found.pipe(answer)
  })
  handed.on('error', () => answer.destroy())
  asked.pipe(handed)
}
