// Answers from zones in this very process, without sockets: zone texts in, decoded messages out.

import { randomBytes } from 'node:crypto'
import { decodeMessage, type Message } from '../../src/dns/message.ts'
import { parseName } from '../../src/dns/name.ts'
import { formatProblem, parseZoneFile } from '../../src/dns/zonefile/parse.ts'
import { answer, ELSEWHERE } from '../../src/zone/answer.ts'
import { Arena } from '../../src/zone/arena.ts'
import { ZoneBuilder } from '../../src/zone/build.ts'
import { checkZone } from '../../src/zone/check.ts'
import { compileFailedZone, compileZone } from '../../src/zone/compile.ts'
import { Directory } from '../../src/zone/directory.ts'
import { EdnsContext } from '../../src/zone/edns.ts'
import { Control } from '../../src/zone/epoch.ts'
import { Query, type View } from '../../src/zone/query.ts'

export const PLAIN_VIEW: View = {
  block: 0,
  space: 0,
  zones: [Uint8Array.of(0)],
  udpBytes: 1232,
  rotate: false,
  minimalAny: true,
  handsOver: false,
  searches: false,
  handoverRcodes: 0,
  nsid: undefined,
  version: undefined,
  hostname: undefined,
}

export class LocalZones {
  readonly arena = new Arena(1 << 20)
  readonly directory = new Directory(this.arena, Control.create(1))
  readonly query = new Query()
  readonly edns = new EdnsContext(randomBytes(16), 100)

  /** Puts a zone into service, or throws what is wrong with it. */
  add(
    origin: string,
    text: string,
    options: { fallthrough?: boolean; requireNs?: boolean; space?: number } = {},
  ): void {
    const builder = new ZoneBuilder(parseName(origin))
    const bytes = new TextEncoder().encode(text)
    let at = 0
    const source = {
      read(into: Uint8Array, from: number): number {
        const piece = bytes.subarray(at, at + into.length - from)
        into.set(piece, from)
        at += piece.length
        return piece.length
      },
    }
    const problems = parseZoneFile(source, { file: origin, origin: builder.origin }, builder).map(formatProblem)
    const findings = checkZone(builder, { requireNs: options.requireNs ?? true })
    problems.push(...findings.filter(({ severity }) => severity === 'error').map(({ message }) => message))
    if (problems.length > 0) throw new Error(problems.join('\n'))
    this.directory.publish(
      compileZone(builder, this.arena, {
        space: options.space ?? 0,
        slot: 1,
        fallthrough: options.fallthrough ?? false,
      }),
    )
  }

  addFailed(origin: string): void {
    this.directory.publish(compileFailedZone(parseName(origin), this.arena, { space: 0, slot: 1, fallthrough: false }))
  }

  /** The response to a packet: undefined for silence, 'elsewhere' when it is for the forwarders. */
  ask(packet: Uint8Array, views: readonly View[] = [PLAIN_VIEW], tcp = true): Message | 'elsewhere' | undefined {
    const buffer = new Uint8Array(65_535)
    buffer.set(packet)
    this.query.attach(this.arena.buffer)
    this.query.open(buffer, 0, packet.length, buffer.length, tcp)
    const length = answer(this.query, views, this.edns)
    if (length === ELSEWHERE) return 'elsewhere'
    if (length === 0) return undefined
    const message = decodeMessage(buffer.subarray(0, length))
    if (typeof message === 'string') throw new Error(`undecodable response: ${message}`)
    return message
  }
}
