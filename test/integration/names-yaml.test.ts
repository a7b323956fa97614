// `holdfast dns --config names.yaml` as a user runs it: served, changed, broken and mended.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { dig, metric, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { brief, untilAnswer } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'

let sandbox: Sandbox
let port: number
beforeEach(async () => {
  sandbox = new Sandbox()
  port = await freePort()
  sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1']))
})
afterEach(() => sandbox.close())

function names(...serve: readonly string[]): string {
  const lines = [`listen: [127.0.0.1:${port}]`, 'reload: 3600s', ...serve]
  return `sources:\n  - { type: directory, path: zones }\nserve:\n  ${lines.join('\n  ')}\n`
}

test('a file is served, with paths beside it, and changes are followed', async () => {
  const http = await freePort()
  const file = sandbox.write('etc/names.yaml', names('nsid: ns1', `metrics: 127.0.0.1:${http}`))
  sandbox.write('etc/zones/db.example.test', zoneText(['www A 192.0.2.2']))
  const server = await sandbox.serve('--config', file)
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.2')
  expect(await dig(port, '+nsid', 'www.example.test')).toContain('("ns1")')
  expect(await metric(http, 'holdfast_zones')).toBe(1)
  sandbox.write('etc/names.yaml', names('forward: [127.0.0.1:1]'))
  await server.logged(/Reloaded the configuration/u)
  await untilAnswer(port, 'x.corp.example.', 'SERVFAIL')
})

test('./names.yaml is taken without a flag, unless there is a Corefile too', async () => {
  sandbox.write('names.yaml', names())
  await sandbox.serve()
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  sandbox.write('Corefile', '.:53')
  const other = sandbox.spawn(['dns'])
  expect(await other.ended()).toBe(2)
  expect(other.output).toContain('Cannot choose between ./names.yaml and ./Corefile: both are here')
})

test('a mistake is told with its place, at the start and in a reload, which changes nothing', async () => {
  const broken = sandbox.spawn(['dns', '--config', sandbox.write('broken.yaml', names('cahce: 30s'))])
  expect(await broken.ended()).toBe(3)
  expect(broken.output).toBe(
    `holdfast: Cannot load ${sandbox.path('broken.yaml')}:6:3: unknown key "cahce" in serve; did you mean "cache"? [NamesInvalid]\n`,
  )
  const file = sandbox.write('names.yaml', names())
  const server = await sandbox.serve('--config', file)
  sandbox.write('names.yaml', names('cahce: 30s'))
  await server.logged(/\[ERROR\] Cannot reload, the previous configuration stays in service: .*names\.yaml:6:3: /u)
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  sandbox.write('names.yaml', names('forward: [127.0.0.1:1]'))
  await untilAnswer(port, 'x.corp.example.', 'SERVFAIL')
})
