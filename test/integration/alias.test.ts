// Aliases that lead out of the zones are followed through `forward`: the cases of zonefile.json that need an upstream,
// with a real one.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rcodeName } from '../../src/dns/types.ts'
import { dig, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { lookup, recordLines } from '../support/lookup.ts'
import type { RunningServer } from '../support/name-server.ts'
import { bind } from '../support/name-servers.ts'
import { freePort } from '../support/ports.ts'

interface AliasCase {
  readonly id: string
  readonly zones: readonly string[]
  readonly query: { readonly name: string }
  readonly expect: {
    readonly rcode?: string
    readonly answer?: readonly { readonly name: string; readonly type: string; readonly rdata: string }[]
    readonly answer_index_1?: { readonly type: string; readonly rdata: string }
  }
  readonly config?: { readonly external?: unknown; readonly hosts?: unknown }
}

const vectors = JSON.parse(readFileSync(new URL('../vectors/zonefile.json', import.meta.url), 'utf8')) as {
  zones: Record<string, { origin: string; text: string }>
  cases: readonly AliasCase[]
}
const cases = vectors.cases.filter(({ config }) => config?.external ?? config?.hosts)

describe('an alias out of the zones', () => {
  const sandbox = new Sandbox()
  const ports = new Map<string, number>()
  let upstream: RunningServer
  beforeAll(async () => {
    const net = sandbox.write('net', zoneText(['www A 10.0.0.1', 'nodata TXT "no address"']))
    upstream = await bind.start([{ origin: 'example.net.', file: net }])
    // Nobody answers on port 1.
    const forwards = `forward . 127.0.0.1:${upstream.port}\n forward srvfail.example.net 127.0.0.1:1`
    for (const zone of new Set(cases.flatMap(({ zones }) => zones))) {
      const port = await freePort()
      ports.set(zone, port)
      const { origin, text } = vectors.zones[zone]
      const file = sandbox.write(`zone-${zone}`, text)
      const directives = `bind 127.0.0.1\n file ${file} ${origin}\n ${forwards}`
      await sandbox.serve('-conf', sandbox.write(`Corefile-${zone}`, `.:${port} {\n ${directives}\n}\n`))
    }
  })
  afterAll(async () => {
    await sandbox.close()
    await upstream.stop()
  })

  test.each(cases)('$id: $query.name', async ({ zones, query, expect: expected }) => {
    const answer = await lookup(ports.get(zones[0]) ?? 0, query.name)
    if (expected.rcode !== undefined) expect(rcodeName(answer.rcode)).toBe(expected.rcode)
    const lines = recordLines(answer)
    if (expected.answer !== undefined)
      expect(lines).toEqual(expected.answer.map(({ name, type, rdata }) => `${name} ${type} ${rdata}`))
    if (expected.answer_index_1 !== undefined)
      expect(lines[1]).toMatch(new RegExp(` ${expected.answer_index_1.type} ${expected.answer_index_1.rdata}$`, 'u'))
  })

  test('TCP keepalive is not spoken of over UDP, not even where the zones have the last word', async () => {
    const port = await freePort()
    const file = sandbox.write('zone-out', zoneText(['out CNAME www.example.com.']))
    const directives = `bind 127.0.0.1\n file ${file} example.test\n forward example.net 127.0.0.1:${upstream.port}`
    await sandbox.serve('-conf', sandbox.write('Corefile-out', `.:${port} {\n ${directives}\n}\n`))
    const byUdp = await dig(port, '+keepalive', 'out.example.test')
    expect(byUdp).toContain('www.example.com.')
    expect(byUdp).not.toContain('KEEPALIVE')
    expect(await dig(port, '+keepalive', 'www.example.net')).not.toContain('KEEPALIVE')
    expect(await dig(port, '+tcp', '+keepalive', 'out.example.test')).toContain('KEEPALIVE')
  })

  test('there are such cases', () => {
    expect(cases.length).toBeGreaterThanOrEqual(6)
  })
})
