import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HoldfastError } from '../../lib/errors.ts'
import { load, refusal } from './testing.ts'

/** The Corefile of a CoreDNS machine that gets its zone files from etcd. */
const KVM_DNS = String.raw`# names
.:53 {
    bind 192.0.2.10
    auto {
        directory /opt/coredns/zonefiles (.*) {1}
        reload 3s
    }
    forward corp.example 192.0.2.53
    cache 30 corp.example {
        prefetch 10 60s
    }
    alternate original SERVFAIL . 192.0.2.53:53
    loadbalance round_robin
    reload 5s
    loop
    nsid coredns-1
    prometheus 0.0.0.0:9153
    health 0.0.0.0:8080
    errors
    log
}
`

/** The Corefile beside KubeSecondaryDNS. */
const KUBEVIRT = String.raw`.:5353 {
    auto {
        directory /zones db\.(.*) {1}
        reload 45s
    }
    reload
    log
    health :8082
    ready :8083
}
`

/** The Corefile of a Kubernetes node with ExternalDNS records in etcd. */
const K2S = `.:53 {
    errors
    health
    ready
    etcd cluster.local {
        stubzones
        path /skydns
        endpoint https://192.0.2.100:2379
        tls /etc/pki/tls.crt /etc/pki/tls.key /etc/pki/ca.crt
        fallthrough
    }
    prometheus :9153
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance
}
`

describe('whole Corefiles', () => {
  test('the one for zone files from etcd loads with every directive in effect', () => {
    const { config, notices } = load(KVM_DNS)
    expect(notices).toEqual([])
    expect(config.blocks).toHaveLength(1)
    expect(config.blocks[0]).toMatchObject({
      at: 'Corefile:2',
      zones: ['.'],
      port: 53,
      bind: ['192.0.2.10'],
      autos: [
        { zones: ['.'], directory: '/opt/coredns/zonefiles', pattern: /(.*)/u, template: '${1}', reloadMs: 3000 },
      ],
      forwards: [{ from: 'corp.example.', to: [{ host: '192.0.2.53', port: 53 }], policy: 'random' }],
      cache: {
        zones: ['corp.example.'],
        successMaxTtlSeconds: 30,
        denialMaxTtlSeconds: 30,
        prefetchAmount: 10,
        prefetchDurationMs: 60_000,
        prefetchPercentage: 10,
      },
      alternates: [{ original: true, rcodes: [2], forward: { from: '.', to: [{ host: '192.0.2.53', port: 53 }] } }],
      loadbalance: true,
      reloadMs: 5000,
      loop: true,
      nsid: 'coredns-1',
      prometheus: { host: '0.0.0.0', port: 9153 },
      health: { host: '0.0.0.0', port: 8080 },
      ready: undefined,
      errors: true,
      log: [{ names: ['.'], format: '{common}', classes: ['all'] }],
      udpBytes: 1232,
      minimalAny: true,
    })
  })

  test('the one beside KubeSecondaryDNS loads', () => {
    const { config, notices } = load(KUBEVIRT)
    expect(notices).toEqual([])
    expect(config.blocks).toMatchObject([
      {
        zones: ['.'],
        port: 5353,
        bind: [],
        autos: [{ directory: '/zones', pattern: /db\.(.*)/u, template: '${1}', reloadMs: 45_000 }],
        reloadMs: 30_000,
        health: { host: '', port: 8082 },
        ready: { host: '', port: 8083 },
        errors: false,
      },
    ])
  })

  test('the one for ExternalDNS loads, with a notice for what has no effect', () => {
    const { config, notices } = load(K2S, { '/etc/resolv.conf': 'nameserver 192.0.2.53\n' })
    expect(notices).toEqual([{ at: 'Corefile:6:9', message: '"stubzones" of etcd has no effect, as in CoreDNS' }])
    expect(config.blocks).toMatchObject([
      {
        skydns: [
          {
            zones: ['cluster.local.'],
            path: '/skydns',
            etcd: {
              endpoints: ['https://192.0.2.100:2379'],
              tls: { certFile: '/etc/pki/tls.crt', keyFile: '/etc/pki/tls.key', caFile: '/etc/pki/ca.crt' },
            },
            mode: 'compatible',
            fallthrough: ['.'],
          },
        ],
        forwards: [{ from: '.', to: [{ host: '192.0.2.53', port: 53 }] }],
        loop: true,
      },
    ])
  })

  test('a CoreDNS plugin that does not exist here is named as such', () => {
    const message = refusal('. {\n    errors\n    kubernetes cluster.local {\n        pods insecure\n    }\n}')
    expect(message).toMatch(
      /^Cannot load Corefile:3:5: "kubernetes" is a CoreDNS plugin that is not supported yet; docs\/reference\/corefile\.md lists /u,
    )
    expect(message.split('\n')).toHaveLength(1)
  })
})

describe('server blocks', () => {
  test('keys of one block on several ports make a block per port', () => {
    const { blocks } = load('example.org example.net:1053 dns://Example.COM {\n errors\n}').config
    expect(blocks.map(({ zones, port, errors }) => ({ zones, port, errors }))).toEqual([
      { zones: ['example.org.', 'example.com.'], port: 53, errors: true },
      { zones: ['example.net.'], port: 1053, errors: true },
    ])
  })

  test('a comma lets the list of keys go on, also on the next line', () => {
    expect(load('a.example,\nb.example {\n}').config.blocks[0].zones).toEqual(['a.example.', 'b.example.'])
    expect(refusal('a.example, {\n}')).toBe(
      'Cannot load Corefile:1:1: a comma ends the list of zones; expected another zone',
    )
  })

  test('the default port is that of the command line', () => {
    expect(load('. {\n}', {}, { defaultPort: 1053 }).config.blocks[0].port).toBe(1053)
    expect(load('.:53 {\n}', {}, { defaultPort: 1053 }).config.blocks[0].port).toBe(53)
  })

  test('the braces of a single block may be left out', () => {
    const { blocks } = load('.:1053\nerrors\nlog\n').config
    expect(blocks).toMatchObject([{ port: 1053, errors: true, log: [{ names: ['.'] }] }])
  })

  test('networks are keys and zones, as their reverse zones', () => {
    expect(load('10.0.0.0/24:1053 2001:db8::/32 {\n}').config.blocks).toMatchObject([
      { zones: ['0.0.10.in-addr.arpa.'], port: 1053 },
      { zones: ['8.b.d.0.1.0.0.2.ip6.arpa.'], port: 53 },
    ])
    expect(load('10.1.0.0/22 {\n}').config.blocks[0].zones).toEqual([
      '0.1.10.in-addr.arpa.',
      '1.1.10.in-addr.arpa.',
      '2.1.10.in-addr.arpa.',
      '3.1.10.in-addr.arpa.',
    ])
  })

  test('a slash may be part of a name, as in the reverse zones of RFC 2317', () => {
    const text = '0/25.2.0.192.in-addr.arpa:1053 {\n file db 128/25.2.0.192.in-addr.arpa\n}'
    expect(load(text).config.blocks).toMatchObject([
      { zones: ['0/25.2.0.192.in-addr.arpa.'], port: 1053, files: [{ zones: ['128/25.2.0.192.in-addr.arpa.'] }] },
    ])
  })

  test('a zone on the same address and port twice is refused with both places', () => {
    expect(refusal('example.org {\n}\nexample.org {\n}')).toBe(
      'Cannot load Corefile:3:1: zone "example.org." on port 53 stands at Corefile:1 and at Corefile:3; expected one place',
    )
    expect(refusal('a. {\n bind 192.0.2.1\n}\na. {\n bind 192.0.2.2 192.0.2.1\n}')).toContain('on 192.0.2.1 port 53')
    expect(refusal('a. {\n bind 192.0.2.1\n}\na. {\n}')).toContain('at Corefile:1 and at Corefile:4')
    expect(refusal('a. A {\n}')).toContain('twice at Corefile:1')
  })

  test('a zone may repeat on another address, port or below', () => {
    const text = 'a. {\n bind 192.0.2.1\n}\na. {\n bind 192.0.2.2\n}\na.:54 {\n}\nb.a. {\n}'
    expect(load(text).config.blocks).toHaveLength(4)
  })

  test.each([
    ['tls://. {\n}', 'Cannot load Corefile:1:1: "tls://" is not supported yet; expected a plain zone or dns://'],
    [':53 {\n}', 'Cannot load Corefile:1:1: ":53" names no zone; expected a zone such as ".:53"'],
    ['.:99999 {\n}', 'Cannot load Corefile:1:1: port 99999 is too large; expected at most 65535'],
    ['a..b {\n}', 'Cannot load Corefile:1:1: "a..b" is not a domain name; expected a name such as example.org'],
    [
      '10.0.0.0/33 {\n}',
      'Cannot load Corefile:1:1: "10.0.0.0/33" is not a network; expected a zone, or a network such as 10.0.0.0/24',
    ],
    ['.:53{\n}', 'Cannot load Corefile:1:1: "{" is part of the word ".:53{"; expected a space before "{"'],
    ['{\n}', 'Cannot load Corefile:1:1: no zone before "{"; expected ".:53 {"'],
    ['', 'Cannot load Corefile:1:1: no server block; expected one such as ".:53 { ... }"'],
    ['# nothing\n', 'Cannot load Corefile:1:1: no server block; expected one such as ".:53 { ... }"'],
    ['. {\n errors\n', 'Cannot load Corefile:1:3: "{" is never closed; expected a "}"'],
    ['. {\n}\n}', 'Cannot load Corefile:3:1: "}" closes nothing; expected a "{" before it'],
    [
      '. {\n errors\n {\n }\n}',
      'Cannot load Corefile:3:2: "{" starts a line; expected the "{" at the end of the line it belongs to',
    ],
    ['. {\n nsid "a\n}', 'Cannot load Corefile:2:7: quote is never closed; expected a second "'],
  ])('%j is refused', (text, message) => {
    expect(refusal(text)).toBe(message)
  })
})

test('a brace that does not match hides no other fault', () => {
  expect(refusal('a.test {\n errors\n nosuch\n\nb.test {\n alsonot\n}\n').split('\n')).toEqual([
    'Cannot load Corefile:1:8: "{" is never closed; expected a "}"',
    expect.stringMatching(/^Cannot load Corefile:3:2: .*nosuch/u),
    expect.stringMatching(/^Cannot load Corefile:5:1: .*b\.test/u),
  ])
  expect(refusal('. {\n nosuch\n}\n}\n').split('\n')).toEqual([
    expect.stringMatching(/^Cannot load Corefile:2:2: .*nosuch/u),
    'Cannot load Corefile:4:1: "}" closes nothing; expected a "{" before it',
  ])
})

describe('directives', () => {
  test('an unknown one is refused with its place and a suggestion', () => {
    expect(refusal('.:53 {\n    quux\n}')).toBe(
      'Cannot load Corefile:2:5: unknown directive "quux"; expected one of alternate, any, auto, bind, bufsize, … (19 in all)',
    )
    expect(refusal('.:53 {\n    foward . 192.0.2.1\n}')).toContain('did you mean "forward"?')
  })

  test('every fault is listed, not only the first', () => {
    const message = refusal('.:53 {\n health 8080\n bufsize 100\n}\na:b:c {\n}')
    expect(message.split('\n')).toEqual([
      'Cannot load Corefile:2:9: "8080" is not an address; expected ADDRESS:PORT or :PORT',
      'Cannot load Corefile:3:10: "100" is not a number from 512 to 4096; expected such a number',
      'Cannot load Corefile:5:1: "a:b:c" is not a network; expected a zone, or a network such as 10.0.0.0/24',
    ])
  })

  test('one that may stand once is refused the second time', () => {
    expect(refusal('. {\n errors\n errors\n}')).toBe(
      'Cannot load Corefile:3:2: "errors" stands twice, first at Corefile:2:2; expected once in a server block',
    )
  })

  test('root applies to relative paths wherever it stands', () => {
    const { blocks } = load('. {\n file db.a a.\n auto {\n directory z\n }\n file /b b.\n root /etc/zones\n}').config
    expect(blocks[0]).toMatchObject({
      root: '/etc/zones',
      files: [{ path: '/etc/zones/db.a' }, { path: '/b' }],
      autos: [{ directory: '/etc/zones/z' }],
    })
  })
})

describe('any text', () => {
  const seeds = [KVM_DNS, KUBEVIRT, K2S, '(s) {\n errors {args[0]}\n import s\n}\n. {\n import s {$X}\n}']
  const words = fc.constantFrom(
    '{',
    '}',
    '"',
    '\n',
    ' ',
    'import',
    '(s)',
    '{$X}',
    '{args[0]}',
    'auto',
    '/',
    ':',
    '10.0.0.0/9',
    '\\',
    '[',
    '(',
  )
  const settled = (text: string) => {
    try {
      load(text, { s: text, x: 'import x', '/etc/resolv.conf': 'nameserver ::1' }, { env: { X: 'import s' } })
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      expect(error.message).toMatch(/^Cannot load [^]+:\d+:\d+: /u)
    }
  }

  test('is loaded or refused, never more', () => {
    expect.hasAssertions()
    settled('x {')
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), settled), { numRuns: 500 })
    fc.assert(
      fc.property(
        fc.array(words, { maxLength: 60 }).map((each) => each.join(' ')),
        settled,
      ),
      { numRuns: 500 },
    )
  })

  test('made from a real Corefile by cutting and pasting is loaded or refused', () => {
    expect.hasAssertions()
    settled('x {')
    const edit = fc.record({
      seed: fc.constantFrom(...seeds),
      from: fc.nat(700),
      to: fc.nat(700),
      paste: fc.oneof(words, fc.string()),
    })
    const mutate = ({ seed, from, to, paste }: { seed: string; from: number; to: number; paste: string }) =>
      seed.slice(0, Math.min(from, to)) + paste + seed.slice(Math.max(from, to) - Math.abs(from - to) / 2)
    fc.assert(fc.property(edit.map(mutate), settled), { numRuns: 1000 })
  })

  test('with imports that double, cycle or nest without end is refused soon', () => {
    const doubling = Array.from(
      { length: 40 },
      (_, index) => `(s${index + 1}) {\n import s${index}\n import s${index}\n}`,
    )
    const before = `(s0) {\n errors\n}\n${doubling.join('\n')}`
    expect(refusal(`${before}\n. {\n import s40\n}`)).toContain('expected less')
    expect(refusal('import a', { a: 'import b', b: 'import a' })).toContain('imports itself: a > b > a')
    const deep = Array.from({ length: 200 }, (_, index) => `(s${index + 1}) {\n import s${index}\n}`)
    expect(refusal(`(s0) {\n errors\n}\n${deep.join('\n')}\n. {\n import s200\n}`)).toContain('nested too deep')
    expect(refusal(`. {\n${'a {\n'.repeat(50_000)}`)).toContain('nested too deep')
  })
})
