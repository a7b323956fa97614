// What is wrong with a stack file is told before anything is touched: all of it, each with its place.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HoldfastError } from '../../lib/errors.ts'
import { load, problems, type World } from './testing.ts'

const HEAD = 'name: lab\ndomain: lab.test\n'
const ETCD = 'etcd: { members: 3 }\n'

describe('problems', () => {
  test('are told all at once, in order, each with its place and a suggestion', async () => {
    const text = `name: Lab
domain: lab..test
network: 10.0.0.0/8
etcd:
  members:
    - { name: etcd-1, cpu: 2 }
    - { name: etcd_2, vcpus: 0, memory: much }
    - { nam: etcd-3, chrony: { enabled: yes } }
dns: { servers: 0, port: 99999, skydns: {} }
postgres: { members: two, patroni: { tll: 3 }, haproxy: { servers: [] } }
`
    expect(await problems(text)).toEqual([
      '1:7: name: "Lab" is not a host name; expected lower-case letters, digits and "-", at most 63 of them, such as etcd-1',
      '2:9: domain: "lab..test" is not a domain; expected a name such as lab.test, at most 120 characters',
      '3:10: network: "10.0.0.0/8" is not a loopback network; expected a network such as 127.77.0.0/16',
      '6:23: unknown key "cpu" in etcd.members[0]; did you mean "vcpus"?',
      '7:15: etcd.members[1].name: "etcd_2" is not a host name; expected lower-case letters, digits and "-", at most 63 of them, such as etcd-1',
      '7:30: etcd.members[1].vcpus is 0; expected a number from 1 to 512',
      '7:41: etcd.members[1].memory is text; expected a number from 128 to 16777216',
      '8:7: etcd.members[2] has no "name"; expected lower-case letters, digits and "-", at most 63 of them, such as etcd-1',
      '8:9: unknown key "nam" in etcd.members[2]; did you mean "name"?',
      '8:41: etcd.members[2].chrony.enabled is text; expected true or false',
      '9:17: dns.servers is 0; expected a number from 1 to 2500',
      '9:26: dns.port is 99999; expected a number from 1 to 65535',
      '9:41: dns.skydns has no "zones"; expected a list of zones, such as [cluster.local]',
      '10:22: postgres.members is text; expected a number of members, or a list of them',
      '10:38: unknown key "tll" in postgres.patroni; did you mean "ttl"?',
      '10:68: postgres.haproxy.servers is an empty list; expected a list of servers',
    ])
  })

  test('of meaning are reported next to those of form, where they are certain', async () => {
    const text = `${HEAD}frobnicate: 1
etcd: { members: [{ name: a }, { name: a }] }
dns: { servers: 1, port: 99999 }
postgres: { members: 2, patroni: { ttl: soon } }
`
    expect(await problems(text)).toEqual([
      expect.stringMatching(/^3:1: unknown key "frobnicate"; /u),
      expect.stringMatching(/^4:\d+: etcd\.members\[1\]\.name: .*"a"/u),
      '5:26: dns.port is 99999; expected a number from 1 to 65535',
      expect.stringMatching(/^6:\d+: postgres\.patroni\.ttl /u),
    ])
  })

  test('of meaning that may be due to a fault of form are not reported', async () => {
    expect(await problems(`${HEAD}etcd: { members: many }\npostgres: { members: 2 }\n`)).toEqual([
      expect.stringMatching(/^3:\d+: etcd\.members is text/u),
    ])
  })

  test('of an anchor are told once, where it stands', async () => {
    const text = `${HEAD}etcd:
  members:
    - { name: a, chrony: &clock { enable: true } }
    - { name: b, chrony: *clock }
    - { name: c, chrony: { <<: *clock } }`
    expect(await problems(text)).toEqual([
      '5:35: unknown key "enable" in etcd.members[0].chrony; did you mean "enabled"?',
    ])
  })

  test.each([
    ['', '1:1: the file is empty; expected a map with "name"'],
    ['name: lab', '1:1: the file has no "domain"; expected a name such as lab.test'],
    [HEAD, '1:1: there is no machine in it; expected "etcd", "dns" or "postgres"'],
    [`${HEAD}target: vmware`, '3:9: target: unknown word "vmware"; expected one of local, libvirt'],
    [`${HEAD}name: again`, '3:1: a key stands twice in one map; expected once'],
    ['name: lab\ndomain: 10.0.0.1\netcd: { members: 1 }', '2:9: domain: "10.0.0.1" is not a domain'],
    ['name: lab\ndomain: -lab.test\netcd: { members: 1 }', '2:9: domain: "-lab.test" is not a domain'],
    [`${HEAD}etcd: {}`, '3:7: etcd has no "members"; expected a number of members, or a list of them'],
    [`${HEAD}etcd: 3`, '3:7: etcd is a number; expected a map with "members"'],
  ])('%j', async (text, message) => {
    const [first, ...more] = await problems(text)
    expect(first).toContain(message)
    expect(more).toEqual([])
  })
})

describe('what virtual machines cannot have', () => {
  const VOLUME = 'cannot be used; expected the name of a file, without "/"'
  const USER = 'is not the name of an administrator'
  test.each([
    ['cloud_init_volume_name: ".iso"', VOLUME],
    ['cloud_init_volume_name: ".."', VOLUME],
    ['cloud_init_volume_name: "../x.iso"', VOLUME],
    ['cloud_init_volume_name: "a\\0"', VOLUME],
    ['ssh_admin_user: "a:b"', USER],
    ['ssh_admin_user: etcd', USER],
    ['hypervisor: "qemu:///system\\n"', 'is not a URI of libvirt'],
    ['admin_user_password: "Pw1\\nroot:x"', 'the password has a line end or another control character'],
    ['libvirt_network: { network_name: n, mac: "ff:ff:ff:ff:ff:ff" }', 'is not a MAC address of one interface'],
    ['libvirt_network: { network_name: n, mac: "00:00:00:00:00:00" }', 'is not a MAC address of one interface'],
  ])('%s', async (variable, message) => {
    const [problem, ...others] = await problems(`${HEAD}etcd: { members: [{ name: a, ${variable} }] }`)
    expect(problem).toContain(message)
    expect(others).toEqual([])
  })
})

describe('text that would begin another line of a file', () => {
  const BREAK = 'has a line break or another control character in it'
  const forward = 'forward: { domain: logs.test, port: 24224, ca_cert: PEM, shared_key: "a\\nb" }'
  test.each([
    [
      'cluster: { initial_token: "a\\nETCD_CLIENT_CERT_AUTH=false" }',
      '"a\\nETCD_CLIENT_CERT_AUTH=false" is not a token',
    ],
    // systemd would join the next line.
    ['cluster: { initial_token: "a\\\\" }', 'is not a token'],
    ['etcd: { auto_compaction_retention: "1000\\nA=1" }', '"1000\\nA=1" is not a number of revisions'],
    ['etcd: { auto_compaction_mode: periodic, auto_compaction_retention: "1h\\nA=1" }', '"1h\\nA=1" is not a time'],
    ['chrony: { enabled: true, servers: [{ url: "a\\nkeyfile /etc/passwd" }] }', BREAK],
    ['chrony: { enabled: true, servers: [{ url: a, options: ["iburst\\nkeyfile /etc/passwd"] }] }', 'options'],
    [`fluentbit: { enabled: true, ${forward} }`, BREAK],
  ])('%s', async (variable, message) => {
    const [problem, ...others] = await problems(`${HEAD}etcd: { members: [{ name: a, ${variable} }] }`)
    expect(problem).toContain(message)
    expect(others).toEqual([])
  })
})

describe('what two machines cannot share', () => {
  test.each([
    [
      'a name, in one cluster',
      `${HEAD}etcd: { members: [{ name: a }, { name: b }, { name: a }] }`,
      '3:53: etcd.members[2].name: "a" is the name of another machine, too; expected one for each',
    ],
    [
      'a name, in two clusters',
      `${HEAD}etcd: { members: 3 }\ndns: { servers: [{ name: etcd-2 }] }`,
      '4:26: dns.servers[0].name: "etcd-2" is the name of another machine, too; expected one for each',
    ],
    [
      'a local address',
      `${HEAD}etcd: { members: [{ name: a, local_address: 127.3.3.3 }] }\ndns: { servers: [{ name: b, local_address: 127.3.3.3 }] }`,
      '4:44: dns.servers[0].local_address: 127.3.3.3 is the address of "a", too; expected one for each machine',
    ],
    [
      'an address of a network',
      `${HEAD}etcd: { members: [{ name: a, libvirt_network: { network_name: n, ip: 10.0.0.1 } }, { name: b, macvtap_interfaces: [{ interface: i, ip: 10.0.0.1 }] }, { name: c }] }`,
      'etcd.members[1]: 10.0.0.1 is the address of "a", too',
    ],
    [
      'a MAC address, whatever its letters',
      `${HEAD}etcd: { members: [{ name: a, libvirt_network: { network_name: n, mac: "aa:00:00:00:00:01" } }, { name: b, libvirt_network: { network_name: n, mac: "AA:00:00:00:00:01" } }, { name: c }] }`,
      'etcd.members[1]: aa:00:00:00:00:01 is the MAC address of "a", too',
    ],
    [
      "the name of Patroni's member",
      `${HEAD}${ETCD}postgres: { members: [{ name: a, patroni: { name: x } }, { name: b, patroni: { name: X } }] }`,
      'postgres.members[1].patroni.name: "X" is a name of the cluster already; expected one for each member',
    ],
    [
      'a name with the zone of PostgreSQL',
      `${HEAD}etcd: { members: [{ name: pg }] }\npostgres: { members: 2 }`,
      '3:19: etcd.members[0]: "pg" is the scope of Patroni, too, whose zone is pg.lab.test; expected another name',
    ],
  ])('%s', async (_, text, message) => {
    const found = await problems(text)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(message)
  })

  test.each(['127.0.0.1', '127.255.255.255', '10.0.0.1', '127.1.1', '127.256.0.1'])(
    '%s as a local address',
    async (address) => {
      const [line] = await problems(`${HEAD}etcd: { members: [{ name: a, local_address: ${address} }] }`)
      expect(line).toContain(
        `"${address}" is not a loopback address of its own; expected an address such as 127.77.10.1`,
      )
    },
  )
})

describe('etcd', () => {
  test.each([
    [
      'a gateway with client certificates',
      `etcd: { members: 3, grpc_gateway_enabled: true }`,
      '3:43: etcd.grpc_gateway_enabled: the gateway takes no client certificates; expected "client_cert_auth: false" with it',
    ],
    [
      'client certificates for Patroni',
      `etcd: { members: 3, client_cert_auth: true }\npostgres: { members: 2 }`,
      '3:39: etcd.client_cert_auth: Patroni cannot use client certificates: it comes through the gRPC gateway, which takes none; expected false, or another cluster',
    ],
    [
      'no gateway for Patroni',
      `etcd: { members: 3, grpc_gateway_enabled: false }\npostgres: { members: 2 }`,
      '3:43: etcd.grpc_gateway_enabled: Patroni comes through the gRPC gateway; expected true',
    ],
    [
      'two members that set up users',
      `etcd: { members: [{ name: a, authentication_bootstrap: { bootstrap: true } }, { name: b }, { name: c, authentication_bootstrap: { bootstrap: true } }] }`,
      'etcd.members[2].authentication_bootstrap.bootstrap: "a" sets up users already; expected one member that does',
    ],
    [
      'a member missing from the initial ones',
      `etcd: { cluster: { initial_members: [{ name: etcd-1, ip: 10.0.0.1 }, { name: etcd-2, ip: 10.0.0.2 }] }, members: [{ name: etcd-1 }, { name: etcd-3 }, { name: etcd-2 }] }`,
      'etcd.members[1]: "etcd-3" is missing from etcd.cluster.initial_members; expected it there, too',
    ],
    [
      'another address among the initial ones',
      `etcd: { cluster: { initial_members: [{ name: a, ip: 10.0.0.1 }] }, members: [{ name: a, libvirt_network: { network_name: n, ip: 10.0.0.9 } }] }`,
      'etcd.members[0]: etcd.cluster.initial_members has 10.0.0.1 for "a"; expected 10.0.0.9',
    ],
    [
      'an address among the initial ones that is not that of the first interface',
      `etcd: { cluster: { initial_members: [{ name: a, ip: 10.1.0.9 }] }, members: [{ name: a, libvirt_network: { network_name: n, ip: 10.0.0.9 }, macvtap_interfaces: [{ interface: i, ip: 10.1.0.9 }] }] }`,
      'etcd.members[0]: etcd.cluster.initial_members has 10.1.0.9 for "a"; expected 10.0.0.9',
    ],
    [
      'an initial member that is not in the file',
      `etcd: { members: [{ name: a, cluster: { is_initializing: false, initial_members: [{ name: a, ip: 10.0.0.1 }, { name: b, ip: 10.0.0.2 }] } }] }`,
      '3:110: etcd.members[0].cluster.initial_members[1]: "b" is no member in this file; expected all members of a cluster in one stack file, and only these',
    ],
    [
      'members that do not agree',
      `etcd: { members: [{ name: a, etcd: { space_quota: 100000000 } }, { name: b }, { name: c, etcd: { space_quota: 200000000 } }] }`,
      'etcd.members[2].etcd.space_quota: it differs from etcd.members[0].etcd.space_quota; expected the same for the whole cluster',
    ],
    [
      'a member that does not agree with its cluster',
      `etcd: { auto_compaction_mode: periodic, members: [{ name: a, etcd: { auto_compaction_mode: revision } }] }`,
      'etcd.members[0].etcd.auto_compaction_mode: it differs from etcd.auto_compaction_mode',
    ],
    [
      'a time for revisions',
      `etcd: { members: 3, auto_compaction_retention: 1h }`,
      'etcd.auto_compaction_retention: "1h" is not a number of revisions; expected one such as 1000',
    ],
    [
      'no time',
      `etcd: { members: 3, auto_compaction_mode: periodic, auto_compaction_retention: soon }`,
      'etcd.auto_compaction_retention: "soon" is not a time; expected hours, or one such as 30m',
    ],
    ...['root', 'dns', 'patroni', 'zones'].map((name) => [
      `the user ${name}`,
      `etcd: { members: 3, users: [{ name: ${name}, permissions: [{ access: read, prefix: / }] }] }`,
      `3:37: etcd.users[0].name: "${name}" is a user of the stack itself; expected another name`,
    ]),
    [
      'a user twice',
      `etcd: { members: 3, users: [&u { name: a, permissions: [{ access: read, prefix: / }] }, *u] }`,
      'etcd.users[1].name: "a" stands twice; expected each user once',
    ],
    [
      'an access that is none',
      `etcd: { members: 3, users: [{ name: a, permissions: [{ access: raed, prefix: / }] }] }`,
      'etcd.users[0].permissions[0].access: unknown word "raed"; did you mean "read"?',
    ],
    ...['"a\\n/b/"', `'/a"/'`, String.raw`'/a\/'`].map((prefix) => [
      `the prefix ${prefix}`,
      `etcd: { members: 3, users: [{ name: a, permissions: [{ access: write, prefix: ${prefix} }] }] }`,
      'has a quotation mark, a backslash or a character that is not printable in it; expected what keys begin with',
    ]),
    [
      'an empty password of root',
      `etcd: { members: 3, client_cert_auth: false, authentication_bootstrap: { root_password: "" } }`,
      '3:89: etcd.authentication_bootstrap.root_password: the password is empty; expected one, or no "root_password" at all',
    ],
    [
      'both spellings of networks',
      `etcd: { members: [{ name: a, libvirt_network: { network_id: x }, libvirt_networks: [{ network_id: x }] }] }`,
      'etcd.members[0]: "libvirt_network" stands beside "libvirt_networks"; expected one of both',
    ],
    [
      'a network without a name',
      `etcd: { members: [{ name: a, libvirt_network: { network_id: "", network_name: "", ip: 10.0.0.1 } }] }`,
      'etcd.members[0].libvirt_network: a network is known by its id or by its name; expected either "network_id" or "network_name"',
    ],
    [
      'two agents for logs',
      `etcd: { members: 1 }\nfluentd: &a { enabled: true, forward: { domain: a, port: 1, shared_key: a, ca_cert: a } }\nfluentbit: *a`,
      'fluentd: "fluentd" and "fluentbit" are both enabled; expected one of both',
    ],
    [
      'logs without an aim',
      `etcd: { members: 1 }\nfluentd: { enabled: true }`,
      'fluentd: logs go nowhere; expected "forward"',
    ],
  ])('%s', async (_, text, message) => {
    const found = await problems(HEAD + text)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(message)
  })

  test('takes an empty password of root where there is no use for it', async () => {
    const { etcd } = await load(
      `${HEAD}etcd: { members: [{ name: a, authentication_bootstrap: { bootstrap: true, root_password: "" } }] }`,
    )
    expect(etcd?.rootPassword).toBeUndefined()
  })

  test('takes a member that joined later', async () => {
    const { etcd } = await load(
      `${HEAD}etcd: { cluster: { initial_members: [{ name: a, ip: 10.0.0.1 }] }, members: [{ name: a }, { name: b, cluster: { is_initializing: false } }] }`,
    )
    expect(etcd).toMatchObject({ isExisting: false, members: [{ name: 'a' }, { name: 'b' }] })
  })

  test.each([
    ['at the cluster', 'cluster: { is_initializing: false }, members: 3'],
    ['at each member', 'members: [{ name: a, cluster: &c { is_initializing: false } }, { name: b, cluster: *c }]'],
  ])('knows that the cluster is there already, as it is said %s', async (_, part) => {
    expect((await load(`${HEAD}etcd: { ${part} }`)).etcd?.isExisting).toBe(true)
  })
})

describe('dns', () => {
  const ZONE = '@ SOA ns h 1 1 1 1 1\n@ NS ns\nns A 192.0.2.1\n'

  test.each<[string, string, World, string]>([
    [
      'no zone directory',
      'dns: { servers: 1, zones: ./zones }',
      {},
      '3:27: dns.zones: there is no directory "./zones"; expected one with zone files',
    ],
    [
      'a file instead',
      'dns: { servers: 1, zones: ./zones }',
      { files: { zones: ZONE } },
      '3:27: dns.zones: there is no directory "./zones"',
    ],
    [
      'a zone with an error',
      'dns: { servers: 1, zones: ./zones }',
      { files: { 'zones/db.example.test': `${ZONE}www A 192.0.2.256\n` } },
      '3:27: dns.zones: zones/db.example.test:4:7: "192.0.2.256": ',
    ],
    [
      'a zone that includes what servers will not have',
      'dns: { servers: 1, zones: ./zones }',
      { files: { 'zones/db.example.test': `${ZONE}$INCLUDE more\n` } },
      '3:27: dns.zones: zones/db.example.test:4:',
    ],
    [
      'a zone twice',
      'dns: { servers: 1, zones: ./zones }',
      { files: { 'zones/db.example.test': ZONE, 'zones/example.test.zone': ZONE } },
      'zones/example.test.zone: it is the zone of zones/db.example.test, too; expected one file for a zone',
    ],
    [
      'the zone of the stack',
      'dns: { servers: 1, zones: ./zones }',
      { files: { 'zones/db.lab.test': ZONE } },
      'zones/db.lab.test: lab.test. is a zone of the stack itself, which holds its machines; expected another zone',
    ],
    [
      'keys without etcd',
      'dns: { servers: 1, key_prefix: /zones/ }',
      {},
      '3:32: dns.key_prefix: there is no etcd to read from; expected "etcd" in the stack, or "etcd" in "dns"',
    ],
    [
      'SkyDNS without etcd',
      'dns: { servers: 1, skydns: { zones: [a.test] } }',
      {},
      '3:28: dns.skydns: there is no etcd to read from',
    ],
    [
      'zones that are none',
      `${ETCD}dns: { servers: 1, skydns: { zones: [a..test] } }`,
      {},
      '4:38: dns.skydns.zones[0]: "a..test" is not a zone; expected a name such as example.org',
    ],
    [
      'keys of Patroni as zones',
      `${ETCD}dns: { servers: 1, key_prefix: / }\npostgres: { members: 2 }`,
      {},
      '4:6: dns: the keys below "/" and "/patroni/" are partly the same; expected another "key_prefix", "path" or "namespace"',
    ],
    [
      'one port for two things',
      'dns: { servers: 1, port: 8080 }',
      {},
      'dns.health_port: 8080 is "port", too; expected another port',
    ],
    [
      'servers that are none',
      'dns: { servers: 1, alternate_dns_servers: [dns.test] }',
      {},
      '3:44: dns.alternate_dns_servers[0]: "dns.test" is not an address; expected an IP address, with or without a port',
    ],
    [
      'an etcd without encryption',
      'dns: { servers: 1, etcd: { endpoints: ["http://10.0.0.1:2379"], ca_certificate: a, client: { username: a, password: b } } }',
      {},
      '3:40: dns.etcd.endpoints[0]: it is not encrypted; expected an endpoint with TLS, such as 10.0.0.1:2379',
    ],
    [
      'an etcd with half a login',
      'dns: { servers: 1, etcd: { endpoints: [10.0.0.1:2379], ca_certificate: a, client: { username: a, key: b } } }',
      {},
      'dns.etcd.client: the login is not complete; expected "certificate" and "key", "username" and "password", or all four',
    ],
    [
      'an authority that is not there',
      'dns: { servers: 1, etcd: { endpoints: [10.0.0.1:2379], ca_certificate: { file: ca.pem }, client: { username: a, password: b } } }',
      {},
      'dns.etcd.ca_certificate.file: "ca.pem" is not a readable file (no such file or directory); expected one that can be read',
    ],
  ])('%s', async (_, text, world, message) => {
    const found = await problems(HEAD + text, world)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(message)
  })

  test('takes warnings of zones as notices, and leaves out what is no zone', async () => {
    const files = { 'zones/db.example.test': ZONE, 'zones/.hidden': 'x', 'zones/db.example.test~': 'x' }
    const { notices, dns } = await load(`${HEAD}dns: { servers: 1, zones: zones }`, { files })
    expect(dns?.zones).toEqual([{ name: 'db.example.test', text: ZONE }])
    expect(notices).toHaveLength(1)
    expect(notices[0]).toMatch(/stack\.yaml:3:27: .*zones\/db\.example\.test:1:3: warning: "SOA": expected a TTL/u)
  })

  test('takes a directory without zones, with a word', async () => {
    const { notices } = await load(`${HEAD}dns: { servers: 1, zones: zones }`, { files: { 'zones/.keep': '' } })
    expect(notices).toEqual([expect.stringMatching(/stack\.yaml:3:27: there is no zone file in "zones"$/u)])
  })
})

describe('postgres', () => {
  test.each([
    [
      'no etcd',
      'postgres: { members: 2 }',
      '3:11: postgres: Patroni has no etcd; expected "etcd" in the stack, or "etcd" in "postgres"',
    ],
    [
      'strict synchronous replication with one member',
      `${ETCD}postgres: { members: 1 }`,
      '4:22: postgres.members: one member cannot commit under strict synchronous replication: there is no standby to replicate to; expected at least 2 members, or "synchronous_mode_strict: false" in "patroni"',
    ],
    [
      'more standbys than there are',
      `${ETCD}postgres: { members: 3, patroni: { synchronous_node_count: 3 } }`,
      '4:60: postgres.patroni.synchronous_node_count: commits wait for 3 standbys, and 3 members have 2; expected at most 2, or more members',
    ],
    [
      'a TTL that is too short',
      `${ETCD}postgres: { members: 3, patroni: { ttl: 20, loop_wait: 10, retry_timeout: 10 } }`,
      '4:41: postgres.patroni.ttl: a leader could lose its lock while it retries: the TTL is 20, "loop_wait" + 2 × "retry_timeout" is 30; expected a TTL of at least 30',
    ],
    [
      'an empty password',
      `${ETCD}postgres: { members: 3, superuser_password: "" }`,
      '4:45: postgres.superuser_password is empty; expected text, { file: PATH } or { env: VARIABLE }',
    ],
    [
      'an empty variable',
      `${ETCD}postgres: { members: 3, replicator_password: { env: EMPTY } }`,
      '4:46: postgres.replicator_password: the variable "EMPTY" is not set; expected the secret in it',
    ],
    [
      'an empty file',
      `${ETCD}postgres: { members: 3, replicator_password: { file: empty } }`,
      '4:46: postgres.replicator_password: the file "empty" is empty; expected the secret in it',
    ],
    [
      'members that do not agree',
      `${ETCD}postgres: { members: [{ name: a, patroni: { scope: x } }, { name: b, patroni: { scope: y } }] }`,
      'postgres.members[1].patroni.scope: it differs from postgres.members[0].patroni.scope; expected the same for the whole cluster',
    ],
    [
      'a parameter twice',
      `${ETCD}postgres: { members: 2, params: [{ key: a, value: 1 }, { key: a, value: 2 }] }`,
      'postgres.params[1]: "a" stands twice; expected each parameter once',
    ],
    [
      'a parameter twice, in another case',
      `${ETCD}postgres: { members: 2, params: { work_mem: 8MB, Work_Mem: 9MB } }`,
      '4:60: postgres.params.Work_Mem: "Work_Mem" stands twice; expected each parameter once',
    ],
    [
      'a parameter that makes a promise of the stack',
      `${ETCD}postgres: { members: 2, params: { work_mem: 8MB, SSL: off } }`,
      '4:55: postgres.params.SSL: "SSL" cannot be chosen: all connections have TLS, with certificates of the stack; expected it left out',
    ],
    [
      'a parameter of Patroni in a list',
      `${ETCD}postgres: { members: 2, params: [{ key: work_mem, value: 8MB }, { key: hot_standby, value: off }] }`,
      '4:65: postgres.params[1]: "hot_standby" cannot be chosen: Patroni sets it; expected it left out',
    ],
    [
      'a scope that cannot be part of a host name',
      `${ETCD}postgres: { members: 2, patroni: { scope: my.cluster } }`,
      '4:43: postgres.patroni.scope: "my.cluster" is not the name of a cluster, as it becomes part of host names; expected letters, digits, "-" and "_", at most 63 of them',
    ],
    [
      'renewal after the end',
      `${ETCD}postgres: { members: 2, certificate: { validity_period: 100, early_renewal_period: 100 } }`,
      'postgres.certificate.early_renewal_period: certificates would be renewed 100 hours before their end, and are valid for 100; expected less',
    ],
    [
      'one port for two things',
      `${ETCD}postgres: { members: 2, haproxy: { read_only_port: 5000 } }`,
      'postgres.haproxy.read_only_port: 5000 is "read_write_port", too; expected another port',
    ],
    [
      'a member named as what it may be',
      `${ETCD}postgres: { members: [{ name: primary }, { name: b }] }`,
      'postgres.members[0]: "primary" is a name of the cluster already; expected one for each member',
    ],
  ])('%s', async (_, text, message) => {
    const found = await problems(HEAD + text, { env: { EMPTY: '' }, files: { empty: '\n' } })
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(message)
  })
})

test('secrets are never part of a message, whatever is wrong with them', async () => {
  const broken = ['1234567890', '[hunter2]', '{hunter2}', '{ file: [hunter2] }', '*hunter2', '@hunter2', 'hunter2: x']
  const places = [
    (secret: string) => `${HEAD}${ETCD}postgres: { members: 2, superuser_password: ${secret} }`,
    (secret: string) => `${HEAD}etcd: { members: 1, authentication_bootstrap: { root_password: ${secret} } }`,
    (secret: string) => `${HEAD}${ETCD}ca: { certificate: x, key: ${secret} }`,
    (secret: string) => `${HEAD}${ETCD}admin_user_password: ${secret}`,
  ]
  for (const place of places)
    for (const secret of broken)
      expect((await problems(place(secret))).join('\n'), place(secret)).not.toMatch(/hunter2|1234567890/u)
})

test('any text is loaded or refused with places', async () => {
  const words = fc.constantFrom(
    ...'name: a domain: a.test etcd: dns: postgres: members: servers: 3 - { } [ ] & * << : ? | > " \' # ! %, chrony: *a &a'.split(
      ' ',
    ),
    'patroni: { ttl: 3 }',
    'tls: { ca_cert: x, server_cert: x, server_key: x }',
    '\n',
    '\n  ',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(words, { maxLength: 30 }), fc.boolean(), async (parts, whole) => {
      try {
        await load((whole ? HEAD : '') + parts.join(' '))
      } catch (error) {
        expect(error).toBeInstanceOf(HoldfastError)
        expect(String(error)).toMatch(/^HoldfastError: Cannot load stack\.yaml:\d+:\d+: .+; /u)
      }
    }),
    { numRuns: 300 },
  )
})
