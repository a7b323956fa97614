// The config.yml that machines with CoreDNS get, read by the program that runs there.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dnsSite, dnsSpec } from '../../test/support/dns-spec.ts'
import { dnsMachines } from '../clusters/dns/machines.ts'
import { Secret } from '../lib/secret.ts'
import { plain, reveal } from '../machine/content.ts'
import { readPublishConfig } from './publish-config.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-publish-config-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

/** With `--validate`, as the service has it; or without. */
function readBack(keyPrefix: string, zonesOnly: boolean) {
  const login = { certificate: plain('certificate'), key: [new Secret('key')] }
  const [machine] = dnsMachines(dnsSpec({ engine: 'coredns', keyPrefix }), dnsSite(), {
    ...{ etcd: { endpoints: ['10.0.0.1:2379'], ca: plain('authority'), login }, machines: [], patroni: [] },
  })
  const isWithValidation = machine.services.map(({ name, command }) => [name, command.includes('--validate')])
  expect(isWithValidation).toContainEqual(['zonefiles', true])
  const file = join(directory, 'config.yml')
  const config = machine.files.find(({ path }) => path === '/etc/holdfast/zonefiles/config.yml')
  writeFileSync(file, reveal(config?.content ?? []))
  return readPublishConfig(file, { zonesOnly })
}

test.each(['/coredns/', ''])('what a machine has for the prefix "%s" is read by its updater', (prefix) => {
  expect(readBack(prefix, true)).toMatchObject({
    prefix,
    directory: '/opt/coredns/zonefiles/2-etcd',
    etcd: { endpoints: ['https://10.0.0.1:2379'], tls: { certFile: '/etc/holdfast/zonefiles/etcd-client.pem' } },
  })
})

test('files of any kind are not made of all of etcd', () => {
  expect(() => readBack('', false)).toThrow('expected the text before the name of a file in a key')
})
