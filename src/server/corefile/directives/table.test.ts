import { describe, expect, test } from 'vitest'
import { block, load, refusal } from '../testing.ts'

const inBlock = (directives: string) => `. {\n${directives}\n}`
const notices = (directives: string) => load(inBlock(directives)).notices.map(({ at, message }) => `${at} ${message}`)

describe('defaults', () => {
  test('of a block that says nothing', () => {
    expect(block('')).toEqual({
      at: 'Corefile:1',
      zones: ['.'],
      port: 53,
      bind: [],
      root: undefined,
      files: [],
      autos: [],
      skydns: [],
      etcdZones: [],
      patronis: [],
      kubevirts: [],
      kubernetes: [],
      ptr: undefined,
      forwards: [],
      alternates: [],
      cache: undefined,
      loadbalance: true,
      nsid: undefined,
      udpBytes: 1232,
      minimalAny: true,
      log: [],
      errors: false,
      health: undefined,
      lameduckMs: 0,
      ready: undefined,
      prometheus: undefined,
      reloadMs: 0,
      loop: false,
    })
  })

  test('of directives without arguments are those of CoreDNS', () => {
    expect(
      block('health\nready\nprometheus\nreload\nnsid\nbufsize\nlog\nerrors\nloop\nany\nloadbalance'),
    ).toMatchObject({
      health: { host: '', port: 8080 },
      lameduckMs: 0,
      ready: { host: '', port: 8181 },
      prometheus: { host: 'localhost', port: 9153 },
      reloadMs: 30_000,
      nsid: 'ns1',
      udpBytes: 1232,
      log: [{ names: ['.'], format: '{common}', classes: ['all'] }],
      errors: true,
      loop: true,
      minimalAny: true,
      loadbalance: true,
    })
  })
})

describe('values', () => {
  test('of the small directives', () => {
    const text = `bind 127.0.0.1 eth0 {
      except ::1
    }
    bind lo
    health [::1]:8081 {
      lameduck 1m30s
    }
    reload 2s
    nsid several words
    bufsize 4096
    loadbalance off`
    expect(block(text)).toMatchObject({
      bind: ['127.0.0.1', 'eth0', 'lo'],
      bindExcept: ['::1'],
      health: { host: '::1', port: 8081 },
      lameduckMs: 90_000,
      reloadMs: 2000,
      nsid: 'several words',
      udpBytes: 4096,
      loadbalance: false,
    })
  })

  test('of log: names, format and classes, one entry a line', () => {
    const text = `log
      log example.org Example.NET. {combined}
      log . "{remote}: {name}" {
        class denial error
      }
      log "{type}"`
    expect(block(text).log).toEqual([
      { names: ['.'], format: '{common}', classes: ['all'] },
      { names: ['example.org.', 'example.net.'], format: '{combined}', classes: ['all'] },
      { names: ['.'], format: '{remote}: {name}', classes: ['denial', 'error'] },
      { names: ['.'], format: '{type}', classes: ['all'] },
    ])
  })

  test('of file: zones of its own or of the block', () => {
    const text = 'file db.a\nfile db.b b.example 10.0.0.0/24 {\n reload 0\n fallthrough\n}'
    expect(load(`a.example:54 c.example {\n${text}\n}`).config.blocks[0].files).toEqual([
      { path: 'db.a', zones: ['a.example.', 'c.example.'], reloadMs: 60_000, fallthrough: [] },
      { path: 'db.b', zones: ['b.example.', '0.0.10.in-addr.arpa.'], reloadMs: 0, fallthrough: ['.'] },
    ])
  })

  test('of alternate: several rcodes, the original question or not', () => {
    expect(
      block('alternate NXDOMAIN . 192.0.2.1\nalternate original servfail,REFUSED a. [2001:db8::1]:54').alternates,
    ).toMatchObject([
      { original: false, rcodes: [3], forward: { from: '.', to: [{ host: '192.0.2.1', port: 53 }] } },
      { original: true, rcodes: [2, 5], forward: { from: 'a.', to: [{ host: '2001:db8::1', port: 54 }] } },
    ])
  })
})

test('what is accepted without effect gives a notice with its place', () => {
  expect(
    notices(
      'errors {\n consolidate 5m ".* i/o timeout$" warning\n stacktrace\n}\nreload 30s 15s\nready {\n monitor continuously\n}',
    ),
  ).toEqual([
    'Corefile:4:2 "stacktrace" has no effect',
    'Corefile:6:12 the jitter of reload has no effect: reading one small file needs no spreading',
    'Corefile:8:2 "monitor" has no effect: /ready tells the state of the moment',
  ])
  expect(notices('file db.a {\n upstream\n reload_by_mtime\n}\nprometheus {\n runtime_metrics\n}')).toHaveLength(3)
})

describe('wrong use', () => {
  test.each([
    ['any x', '2:5: "any" has 1 argument; expected any'],
    ['any {\n x\n}', '3:2: unknown option "x" of any; expected no block'],
    ['bind', '2:1: "bind" has 0 arguments; expected bind ADDRESS|INTERFACE...'],
    ['bind 192.0.2.1:53', '2:6: "192.0.2.1:53" is neither an IP address nor an interface'],
    ['bind 300.0.0.1', '2:6: "300.0.0.1" is neither'],
    ['bufsize 511', '2:9: "511" is not a number from 512 to 4096'],
    ['errors {\n consolidate 1s x warn\n}', '3:19: "warn" is not a level; did you mean "warning"?'],
    ['errors {\n consolidate 1s x error first\n}', '3:25: "first" comes after the level; expected show_first'],
    ['errors {\n consolidate 1s ( error\n}', '3:17: "(" is not a regular expression'],
    ['errors stderr', '2:8: "stderr" is not a log; expected stdout'],
    ['errors {\n consolidat 1s x\n}', '3:2: unknown option "consolidat" of errors; did you mean "consolidate"?'],
    ['file', '2:1: "file" has 0 arguments; expected file DBFILE [ZONES...]'],
    ['health :8080 x', '2:14: "health" has 2 arguments; expected health [ADDRESS:PORT]'],
    ['health {\n lameduck 5\n}', '3:11: "5" is not a duration; expected a unit, such as 5s'],
    ['health {\n lameduck -5s\n}', '3:11: "-5s" is not a duration; expected one such as'],
    ['loadbalance weighted w.txt', '2:13: policy "weighted" is not supported; expected round_robin or off'],
    ['loadbalance best', '2:13: unknown policy "best"; expected round_robin or off'],
    ['log {\n class some\n}', '3:8: unknown class "some"; expected success, denial, error, all'],
    ['loop x', '2:6: "loop" has 1 argument; expected loop'],
    ['prometheus localhost', '2:12: "localhost" is not an address; expected ADDRESS:PORT or :PORT'],
    ['ready :65536', '2:7: ":65536" is not an address'],
    ['reload 1s', '2:8: "1s" is out of range; expected at least 2s'],
    ['root', '2:1: "root" has 0 arguments; expected root DIRECTORY'],
    [
      'alternate NXDOMAIN .',
      '2:1: "alternate" has 2 arguments; expected alternate [original] RCODE[,RCODE...] FROM TO...',
    ],
    ['alternate NXDOMIN . 192.0.2.1', '2:11: "NXDOMIN" is not an rcode; did you mean "NXDOMAIN"?'],
    [
      'alternate REFUSED . ::1\nalternate REFUSED . ::1',
      '3:11: REFUSED has an alternate already; expected each rcode once',
    ],
    ['alternate REFUSED . ::1 {\n policy random\n}', '3:2: unknown option "policy" of alternate; expected no block'],
    ['hosts /etc/hosts', '2:1: "hosts" is a CoreDNS plugin that is not supported yet'],
    ['__proto__', '2:1: unknown directive "__proto__"'],
  ])('%j is refused', (directives, message) => {
    expect(refusal(inBlock(directives))).toContain(`Cannot load Corefile:${message}`)
  })
})
