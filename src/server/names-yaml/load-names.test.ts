import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HoldfastError } from '../../lib/errors.ts'
import { load, problems } from './testing.ts'

const WHOLE = `
etcd: &etcd
  endpoints: [https://10.0.0.1:2379, 10.0.0.2:2379]
  ca_cert: ca.pem
  client_cert: /etc/c.pem
  client_key: k.pem
  username: dns
  password: { file: ./password }
  connection_timeout: 1s
sources:
  - { type: directory, path: ./zones, reload: 3s }
  - { type: file, path: db.extra, zones: [Extra.test] }
  - { type: etcd-zones, name: stored, prefix: /zones/ }
  - type: skydns
    etcd: { <<: *etcd, endpoints: [https://10.0.1.1:2379] }
    path: skydns
    zones: [Cluster.local., 10.0.0.0/8]
    mode: exact
    fallthrough: true
    max_lease_ttl: 3600
  - { type: patroni, namespace: service, scope: pg, zone: PG.lab.test }
serve:
  listen: [127.0.0.1:5300, "[::1]:5300", ":53"]
  forward:
    - 192.0.2.53
    - /etc/resolv.conf
    - { from: corp.example, to: [192.0.2.54], policy: sequential, except: [a.corp.example], failover: [SERVFAIL] }
  alternate: [{ rcodes: [SERVFAIL, REFUSED], to: ["[2001:db8::1]:5353"] }]
  cache: 30s
  ptr: { zones: [10.0.0.0/16, 8.b.d.0.1.0.0.2.ip6.arpa] }
  health: 127.0.0.1:8080
  lameduck: 5s
  ready: 127.0.0.1:8181
  metrics: localhost:9153
  log: true
  nsid: true
  load_balance: false
  bufsize: 4096
  loop: true
  state: state
  reload: 30s
write:
  - type: zonefiles
    prefix: /zones/
    directory: out
    permissions: "0600"
    notify: { command: [systemctl, reload, coredns], retries: 5 }
`
const WORLD = {
  file: 'etc/names.yaml',
  files: { 'etc/password': 'hunter2\n', '/etc/resolv.conf': 'nameserver 192.0.2.99\n' },
}

describe('a whole file', () => {
  const { config, notices, write } = load(WHOLE, WORLD)
  const connection = {
    endpoints: ['https://10.0.0.1:2379', '10.0.0.2:2379'],
    tls: { caFile: 'etc/ca.pem', certFile: '/etc/c.pem', keyFile: 'etc/k.pem' },
    username: 'dns',
    dialTimeoutMs: 1000,
    requestTimeoutMs: 5000,
  }

  test('is a block for each port, with the same in all of them', () => {
    expect(config.blocks.map(({ port, bind, zones, at }) => ({ port, bind, zones, at }))).toEqual([
      { port: 5300, bind: ['127.0.0.1', '::1'], zones: ['.'], at: 'etc/names.yaml' },
      { port: 53, bind: [], zones: ['.'], at: 'etc/names.yaml' },
    ])
    expect({ ...config.blocks[1], port: 0, bind: [] }).toEqual({ ...config.blocks[0], port: 0, bind: [] })
    expect(config.state).toBe('etc/state')
    expect(notices).toEqual([])
  })

  test('has its sources in order, with paths beside the file and names made absolute', () => {
    expect(config.blocks[0]).toMatchObject({
      autos: [{ directory: 'etc/zones', reloadMs: 3000, fallthrough: [], rank: 0 }],
      files: [{ path: 'etc/db.extra', zones: ['extra.test.'], reloadMs: 60_000, fallthrough: [], rank: 1 }],
      etcdZones: [{ prefix: '/zones/', etcd: connection, fallthrough: [], rank: 2, name: 'stored' }],
      skydns: [
        {
          zones: ['cluster.local.', '10.in-addr.arpa.'],
          path: '/skydns',
          etcd: { ...connection, endpoints: ['https://10.0.1.1:2379'] },
          mode: 'exact',
          fallthrough: ['.'],
          minLeaseTtlSeconds: 30,
          maxLeaseTtlSeconds: 3600,
          rank: 3,
        },
      ],
      patronis: [
        { etcd: connection, namespace: '/service/', scope: 'pg', zone: 'pg.lab.test.', ttlSeconds: 2, rank: 4 },
      ],
    })
  })

  test('has everything about serving', () => {
    expect(config.blocks[0]).toMatchObject({
      ptr: { zones: ['0.10.in-addr.arpa.', '8.b.d.0.1.0.0.2.ip6.arpa.'], ttlSeconds: 60 },
      forwards: [
        {
          from: 'corp.example.',
          to: [{ host: '192.0.2.54', port: 53 }],
          policy: 'sequential',
          except: ['a.corp.example.'],
          failoverRcodes: [2],
          maxFails: 2,
        },
        {
          from: '.',
          to: [
            { host: '192.0.2.53', port: 53 },
            { host: '192.0.2.99', port: 53 },
          ],
          policy: 'random',
        },
      ],
      alternates: [{ rcodes: [2, 5], forward: { from: '.', to: [{ host: '2001:db8::1', port: 5353 }] } }],
      cache: { zones: ['.'], successMaxTtlSeconds: 30, denialMaxTtlSeconds: 30 },
      health: { host: '127.0.0.1', port: 8080 },
      lameduckMs: 5000,
      ready: { host: '127.0.0.1', port: 8181 },
      prometheus: { host: 'localhost', port: 9153 },
      log: [{ names: ['.'], format: '{common}', classes: ['all'] }],
      nsid: 'ns1',
      loadbalance: false,
      udpBytes: 4096,
      loop: true,
      reloadMs: 30_000,
      errors: true,
    })
  })

  test('has its outputs', () => {
    expect(write).toMatchObject([
      {
        etcd: connection,
        prefix: '/zones/',
        directory: 'etc/out',
        fileMode: 0o600,
        directoryMode: 0o755,
        notify: { command: ['systemctl', 'reload', 'coredns'], retries: 5, retryMs: 1000, timeoutMs: 60_000 },
      },
    ])
  })

  test('has zones below /coredns/ unless it says otherwise', () => {
    const { config: least, write: outputs } = load(
      'etcd: { endpoints: [a:1] }\nsources: [{ type: etcd-zones }]\nwrite: [{ type: zonefiles, directory: out }]',
    )
    expect([least.blocks[0].etcdZones[0].prefix, outputs[0].prefix]).toEqual(['/coredns/', '/coredns/'])
    const { config: other } = load('sources: [{ type: etcd-zones, prefix: /mine, etcd: { endpoints: [a:1] } }]')
    expect(other.blocks[0].etcdZones[0].prefix).toBe('/mine/')
  })

  test('keeps the password from printing', () => {
    expect(config.blocks[0].etcdZones[0].etcd.password?.reveal()).toBe('hunter2')
    expect(inspect({ config, write }, { depth: 9 }) + JSON.stringify({ config, write })).not.toContain('hunter2')
  })
})

test('the least there is serves a directory on port 53', () => {
  const { config, write } = load('sources: [{ type: directory, path: /zones }]')
  expect(config.blocks).toMatchObject([
    { port: 53, bind: [], cache: undefined, forwards: [], log: [], nsid: undefined, ptr: undefined, loadbalance: true },
  ])
  expect(config.blocks[0].skydns).toEqual([])
  expect(config.state).toBeUndefined()
  expect(write).toEqual([])
})

test('a file may only forward, but not only write', () => {
  expect(load('serve: { forward: [192.0.2.1] }').config.blocks).toHaveLength(1)
  expect(problems('etcd: { endpoints: [a:1] }\nwrite: [{ type: zonefiles, prefix: "", directory: /out }]')).toEqual([
    '1:1: there is nothing to serve; expected "sources", or "forward" in "serve"',
  ])
})

test('cache and log may be maps', () => {
  const { blocks } = load(
    'serve: { forward: [192.0.2.1], cache: { max_ttl: 1m, serve_stale: 1h, capacity: 10 }, log: { classes: [denial] } }',
  ).config
  expect(blocks[0]).toMatchObject({
    cache: { successMaxTtlSeconds: 60, denialMaxTtlSeconds: 60, serveStaleMs: 3_600_000, successCapacity: 10 },
    log: [{ names: ['.'], format: '{common}', classes: ['denial'] }],
  })
  expect(load('serve: { forward: [192.0.2.1], cache: true }').config.blocks[0].cache?.successMaxTtlSeconds).toBe(3600)
})

test('two sources may have the same zone', () => {
  const text = `etcd: { endpoints: [a:1] }
sources:
  - { type: skydns, zones: [a.test] }
  - { type: patroni, scope: pg, zone: a.test }
  - { type: skydns, zones: [a.test], path: /other }`
  expect(load(text).config.blocks[0].skydns).toHaveLength(2)
})

describe('secrets', () => {
  const withPassword = (password: string, endpoint = 'https://a:1') =>
    `sources: [{ type: etcd-zones, prefix: /, etcd: { endpoints: ["${endpoint}"], username: u, password: ${password} } }]`
  const password = (text: string, world = {}) => load(text, world).config.blocks[0].etcdZones[0].etcd.password?.reveal()

  test('stand in the file, in another file or in a variable', () => {
    expect(password(withPassword('plain'))).toBe('plain')
    expect(password(withPassword('{ file: p }'), { files: { p: 'from file\r\n' } })).toBe('from file')
    expect(password(withPassword('{ file: /p }'), { files: { '/p': ' kept \n\n' } })).toBe(' kept \n')
    expect(password(withPassword('{ env: P }'), { env: { P: 'from env' } })).toBe('from env')
  })

  test.each([
    ['{ env: P }', 'the variable "P" is not set; expected the secret in it'],
    ['{ file: p }', '"p" is not a readable file (no such file); expected one that can be read'],
    ['{ file: empty }', 'the file "empty" is empty; expected the secret in it'],
    ['{ file: p, env: P }', 'a secret is in one place; expected either "file" or "env"'],
    ['{}', 'a secret is in one place; expected either "file" or "env"'],
  ])('%s that is not there is told', (place, message) => {
    const [line, ...more] = problems(withPassword(place), { files: { empty: '\n' } })
    expect(line).toMatch(/^1:\d+: sources\[0\]\.etcd\.password: /u)
    expect(line).toContain(message)
    expect(more).toEqual([])
  })

  test('are never part of a message, whatever is wrong with them or the text around them', () => {
    const broken = [
      withPassword('1234567890'),
      withPassword('[hunter2]'),
      withPassword('{hunter2}'),
      withPassword('{ hunter: 2 }').replace('hunter: 2', 'file: [hunter2]'),
      withPassword('*hunter2'),
      withPassword('!hunter2'),
      withPassword('%hunter2'),
      withPassword('@hunter2'),
      withPassword('"hunter2'),
      withPassword('hunter2: x'),
      withPassword('"\\hunter2"'),
      withPassword('x', 'https://root:hunter2@a:1'),
      `${withPassword('x')}\n hunter2`,
      `password: hunter2\n${withPassword('x')}`,
    ]
    for (const text of broken) expect(problems(text).join('\n')).not.toMatch(/hunter2|1234567890/u)
  })

  test('over plain connections are told about', () => {
    expect(load(withPassword('x', 'http://a:1')).notices).toEqual([
      { at: 'names.yaml:1:61', message: 'the password goes to http://a:1 unencrypted' },
    ])
    expect(load(withPassword('x')).notices).toEqual([])
  })
})

describe('problems', () => {
  test('are told all at once, in order, each with its place', () => {
    const text = `sorces: []
sources:
  - { type: directry, path: ./zones }
  - { path: ./zones }
  - 5
  - { type: directory, pat: ./zones, reload: 60x }
serve:
  listen: 127.0.0.1:53
  bufsize: 10
`
    expect(problems(text)).toEqual([
      '1:1: unknown key "sorces"; did you mean "sources"?',
      '3:13: sources[0].type: unknown word "directry"; did you mean "directory"?',
      '4:5: sources[1] has no "type"; expected one of directory, file, etcd-zones, skydns, patroni, kubevirt, kubernetes',
      '5:5: sources[2] is a number; expected a map with "type"',
      '6:5: sources[3] has no "path"; expected a path',
      '6:24: unknown key "pat" in sources[3]; did you mean "path"?',
      '6:46: sources[3].reload: "60x" is not a duration; expected a duration such as 30s, 500ms or 1h30m',
      '8:11: serve.listen is text; expected a list of addresses, such as [127.0.0.1:53]',
      '9:12: serve.bufsize is 10; expected a number from 512 to 4096',
    ])
  })

  test('of an anchor are told once, where it stands', () => {
    const text = `sources:
  - { type: etcd-zones, prefix: /, etcd: &etcd { endpoints: [a:1], cpu: 2 } }
  - { type: skydns, zones: [a.test], etcd: *etcd }
  - { type: patroni, scope: pg, zone: b.test, etcd: { <<: *etcd } }`
    expect(problems(text)).toEqual([
      expect.stringMatching(
        /^2:68: unknown key "cpu" in sources\[0\]\.etcd; expected one of endpoints, ca_cert, client_cert, client_key, server_name, … \(10 in all\)$/u,
      ),
    ])
  })

  test.each([
    [
      'a name that is none',
      'sources: [{ type: file, path: a, zones: [a..b] }]',
      '1:42: sources[0].zones[0]: "a..b" is not a zone; expected a name such as example.org, or a network such as 10.0.0.0/8',
    ],
    [
      'a name with a blank',
      'sources: [{ type: file, path: a, zones: ["a b"] }]',
      '1:42: sources[0].zones[0]: "a b" is not a zone',
    ],
    [
      'a name that is not ASCII',
      'sources: [{ type: file, path: a, zones: [ü.test] }]',
      '1:42: sources[0].zones[0]: "ü.test" is not a zone',
    ],
    [
      'a network that is none',
      'sources: [{ type: file, path: a, zones: [10.0.0.0/33] }]',
      '1:42: sources[0].zones[0]: "10.0.0.0/33" is not a zone',
    ],
    [
      'a network where one name is wanted',
      'etcd: { endpoints: [a:1] }\nsources: [{ type: patroni, scope: a, zone: 10.0.0.0/8 }]',
      '2:44: sources[0].zone: "10.0.0.0/8" is not a domain name',
    ],
    [
      'a source twice',
      'sources:\n- { type: directory, path: a }\n- { type: directory, path: a, name: b }',
      '3:3: sources[1]: it is the same as sources[0]; expected each source once',
    ],
    [
      'a name twice',
      'sources:\n- { type: directory, path: a, name: x }\n- { type: directory, path: b, name: x }',
      '3:37: sources[1].name: "x" is the name of sources[0] too; expected another',
    ],
    [
      'a name that is no word',
      'sources: [{ type: directory, path: a, name: a/b }]',
      '1:45: sources[0].name: "a/b" is not a name; expected letters, digits, ".", "_" and "-", at most 63 of them',
    ],
    [
      'no etcd anywhere',
      'sources: [{ type: etcd-zones, prefix: / }]',
      '1:11: sources[0]: there is no "etcd"; expected one here, or one at the top of the file for all',
    ],
    [
      'an endpoint without a port',
      'etcd: { endpoints: [etcd.example] }',
      '1:21: etcd.endpoints[0]: "etcd.example" is not an endpoint; expected an address with its port, such as https://10.0.0.1:2379',
    ],
    [
      'a user in an endpoint',
      'etcd: { endpoints: ["https://u:p@a:1"] }',
      '1:21: etcd.endpoints[0]: the endpoint has a user in it; expected "username" and "password" beside "endpoints"',
    ],
    [
      'no endpoints',
      'etcd: { endpoints: [] }',
      '1:20: etcd.endpoints is an empty list; expected a list of addresses, such as [https://10.0.0.1:2379]',
    ],
    [
      'a certificate without its key',
      'etcd: { endpoints: [a:1], client_cert: a }',
      '1:7: etcd: "client_cert" stands without "client_key"; expected both or none',
    ],
    [
      'a password without its user',
      'etcd: { endpoints: [a:1], password: a }',
      '1:7: etcd: "password" stands without "username"; expected both or none',
    ],
    [
      'certificates for plain endpoints',
      'etcd: { endpoints: ["http://a:1"], ca_cert: a }',
      '1:7: etcd: "ca_cert" has no effect, as every endpoint is plain http; expected https endpoints',
    ],
    [
      'TTLs the wrong way round',
      'etcd: { endpoints: [a:1] }\nsources: [{ type: skydns, zones: [a], min_lease_ttl: 2m, max_lease_ttl: 1m }]',
      '2:11: sources[0]: "min_lease_ttl" is more than "max_lease_ttl"; expected at most as much',
    ],
    [
      'a TTL too long for a primary',
      'sources: [{ type: patroni, scope: a, zone: a, ttl: 60 }]',
      '1:52: sources[0].ttl: 60 is out of range; expected 1s to 5s',
    ],
    [
      'a mode without quotes',
      'write: [{ type: zonefiles, prefix: /, directory: a, permissions: 0644 }]',
      '1:66: write[0].permissions is a number; expected a mode in quotes, such as "0644"',
    ],
    [
      'a forward zone for PTR',
      'serve: { ptr: { zones: [a.test] } }',
      '1:24: serve.ptr.zones: a zone is below neither in-addr.arpa nor ip6.arpa; expected reverse zones, or networks such as 10.0.0.0/8',
    ],
    [
      'a server that is none',
      'serve: { forward: [ns1.example] }',
      '1:20: serve.forward[0]: "ns1.example" is neither an address nor a readable file (no such file); expected one that can be read',
    ],
    [
      'two rules for one name',
      'serve: { forward: [{ to: [192.0.2.1] }, 192.0.2.2] }',
      '1:19: serve.forward: addresses stand beside a rule for "."; expected one of both',
    ],
    [
      'an rcode that is none',
      'serve: { alternate: [{ rcodes: [SERVFIAL], to: [192.0.2.1] }] }',
      '1:33: serve.alternate[0].rcodes[0]: unknown word "SERVFIAL"; did you mean "SERVFAIL"?',
    ],
    [
      'an address that is none',
      'serve: { health: 8080 }',
      '1:18: serve.health is a number; expected ADDRESS:PORT or :PORT',
    ],
    ['an empty file', '# nothing\n', '1:1: the file is empty; expected a map with "sources"'],
    ['a list', '- a', '1:1: the file is a list; expected a map with "sources"'],
    ['a prototype', '__proto__: { etcd: 1 }', '1:1: unknown key "__proto__"; '],
  ])('%s', (_, text, message) => {
    const found = problems(text)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(message)
  })
})

describe('YAML', () => {
  test.each([
    ['a key twice', 'sources: []\nsources: []', '2:1: a key stands twice in one map; expected once'],
    ['a tab', 'serve:\n\tlisten: []', '2:1: a tab indents the line; expected spaces'],
    ['an alias without anchor', 'etcd: *etcd', '1:7: an alias without its anchor; expected the anchor above it'],
    ['an anchor in itself', 'etcd: &a { endpoints: [*a] }', '1:10: etcd.endpoints[0] is a map; expected an address'],
    ['a merge of no map', 'etcd: { <<: 5 }', '1:1: a merge key "<<" has something else than a map'],
    ['a second document', 'a: 1\n---\nb: 1', '2:1: a second document starts here; expected one in a file'],
    ['an unclosed list', 'sources: [', 'end with a ]; expected YAML'],
    ['a tag', 'etcd: !!js/function x', '1:7: this is not YAML; expected YAML 1.2'],
  ])('%s is refused', (_, text, message) => {
    expect(problems(text)[0]).toContain(message)
  })

  test('bombs of aliases do not go off', () => {
    const levels = Array.from({ length: 12 }, (_, level) => `l${level}: &l${level} [${`*l${level - 1},`.repeat(9)}]`)
    expect(problems(['l0: &l0 [a]', ...levels.slice(1)].join('\n'))[0]).toContain('aliases lead on without end')
  })

  test('an anchor may be used hundreds of times', () => {
    const sources = Array.from({ length: 300 }, (_, i) => `- { type: patroni, scope: s${i}, zone: z, etcd: *e }`)
    const text = `etcd: &e { endpoints: [a:1] }\nsources:\n${sources.join('\n')}`
    expect(load(text).config.blocks[0].patronis).toHaveLength(300)
  })

  test('any text is loaded or refused with places', () => {
    const words = fc.constantFrom(
      ...'sources: etcd: serve: write: - { } [ ] & * << : ? | > " \' # ! %,type: directory skydns zones: a.test *a &a'.split(
        ' ',
      ),
      '\n',
      '\n  ',
    )
    fc.assert(
      fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
        try {
          load(parts.join(' '))
        } catch (error) {
          expect(error).toBeInstanceOf(HoldfastError)
          expect(String(error)).toMatch(/^HoldfastError: Cannot load names\.yaml:\d+:\d+: .+; /u)
        }
      }),
      { numRuns: 300 },
    )
  })
})
