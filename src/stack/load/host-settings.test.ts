import { describe, expect, test } from 'vitest'
import { load, problems } from './testing.ts'

const HEAD = 'name: lab\ndomain: lab.test\n'
const NETWORK =
  'target: libvirt\nmachine_network: { network_name: default, addresses: 192.168.122.100-192.168.122.199 }\n'

describe('the engine of name servers', () => {
  test('is our own unless the stack file says otherwise', async () => {
    expect((await load(`${HEAD}dns: { servers: 1 }`)).dns?.engine).toBe('holdfast')
    expect((await load(`${HEAD}dns: { servers: 1, engine: coredns }`)).dns?.engine).toBe('coredns')
  })

  test('is told when it is not known', async () => {
    expect(await problems(`${HEAD}dns: { servers: 1, engine: bind }`)).toEqual([
      '3:28: dns.engine: unknown word "bind"; expected one of holdfast, coredns',
    ])
  })

  test('has no SkyDNS records with CoreDNS', async () => {
    const text = `${HEAD}etcd: { members: 1 }\ndns: { servers: 1, engine: coredns, skydns: { zones: [a.test] } }`
    expect(await problems(text)).toEqual([
      '4:45: dns.skydns: CoreDNS is given zone files only; expected "engine: holdfast", or no "skydns"',
    ])
  })

  test('has no names of the primary with CoreDNS, which is said', async () => {
    const text = `${HEAD}etcd: { members: 1 }\npostgres: { members: 2 }\ndns: { servers: 1, engine: coredns }`
    const { notices, postgres } = await load(text)
    const scope = postgres?.patroni.scope
    expect(notices.map((notice) => notice.replace(/^.*stack\.yaml/u, ''))).toContain(
      `:5:28: CoreDNS cannot follow Patroni: there is no primary.${scope}.lab.test and no replica.${scope}.lab.test with it`,
    )
  })
})

describe('agents that send logs', () => {
  const FORWARD = 'forward: { domain: logs.test, port: 1, shared_key: a, ca_cert: a }'
  const stack = (agent: string) => `${HEAD}${NETWORK}etcd: { members: 3 }\n${agent}`

  test('have to be in the image, or be installed from a source of packages: it is said once', async () => {
    const { notices } = await load(stack(`fluentbit: { enabled: true, ${FORWARD} }`))
    expect(notices).toEqual([
      expect.stringMatching(
        /:6:12: Debian has no package of it: expected an image with \/opt\/fluent-bit\/bin\/fluent-bit, or "package_source"$/u,
      ),
    ])
    expect(await load(stack(`install_dependencies: false\nfluentd: { enabled: true, ${FORWARD} }`))).toMatchObject({
      notices: [],
    })
  })

  test('are installed from the source that is given, with its key', async () => {
    const source = 'deb [signed-by=$KEY_FILE] https://packages.example/debian bookworm main'
    const { etcd, notices } = await load(
      stack(`fluentd: { enabled: true, ${FORWARD}, package_source: { source: '${source}', key: { file: key.asc } } }`),
      { files: { 'key.asc': 'armored\n' } },
    )
    expect(notices).toEqual([])
    expect(etcd?.members[0].hardware.logs?.packageSource).toEqual({ name: 'fluentd', source, key: 'armored\n' })
  })

  test('have a source without a password in its address, which is not told', async () => {
    const source = 'deb [signed-by=$KEY_FILE] https://user:hidden@packages.example/debian bookworm main'
    const found = await problems(
      stack(`fluentd: { enabled: true, ${FORWARD}, package_source: { source: '${source}', key: armored } }`),
    )
    expect(found).toEqual([
      expect.stringMatching(
        /fluentd\.package_source\.source: the address has a user or a password in it, .*expected it without/u,
      ),
    ])
    expect(found[0]).not.toContain('hidden')
  })

  test('have tags and receivers that are one word', async () => {
    const wrong = FORWARD.replace('logs.test', '"logs test"')
    expect(await problems(stack(`fluentbit: { enabled: true, etcd_tag: "a b", ${wrong} }`))).toEqual([
      expect.stringContaining('fluentbit.etcd_tag: "a b" is not a tag; expected letters, digits and "._:/@-"'),
      expect.stringContaining('fluentbit.forward.domain: "logs test" is not a name or an address; expected letters'),
    ])
  })
})
